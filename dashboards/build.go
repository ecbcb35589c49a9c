// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"strconv"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

const panelHeight = 8

// Dashboard is the model that every Grafana reads.
type Dashboard = dashboard.Dashboard //nolint:staticcheck // its successor is read by the newest only

// New returns the dashboard. The error is the builder's.
func New() (Dashboard, error) {
	b := dashboard.NewDashboardBuilder("Freshwatch") //nolint:staticcheck // as Dashboard
	b.Uid("freshwatch").
		Description("Is what operators read from their informers up to date, and do they act on it? The alerts on the same series are in alerts/README.md.").
		Tags([]string{"freshwatch", "kubernetes", "operators"}).
		Timezone(common.TimeZoneBrowser).
		Time("now-6h", "now").
		Refresh("1m").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Variables(variables())
	var id uint32
	for _, r := range rows() {
		id++
		b.WithRow(dashboard.NewRowBuilder(r.title).Id(id))
		for _, p := range r.panels {
			id++
			b.WithPanel(p.build(id))
		}
	}
	return b.Build()
}

func rows() []row {
	return []row{informersRow(), connectionsRow(), canaryRow(), reconcilesRow(), generationsRow(), costRow()}
}

// datasource is the one that is chosen above.
func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}

// build returns the panel, as Grafana has it.
func (p panel) build(id uint32) cog.Builder[dashboard.Panel] {
	switch p.shape {
	case asStates:
		return p.timeline(id)
	case asHeatmap:
		return p.heatmap(id)
	default:
		return p.graph(id)
	}
}

func (p panel) targets() []cog.Builder[variants.Dataquery] {
	var out []cog.Builder[variants.Dataquery]
	for i, q := range p.queries {
		t := prometheus.NewDataqueryBuilder().Datasource(datasource()).
			RefId(string(rune('A' + i))).Expr(q.expr).LegendFormat(q.legend).Range().EditorMode(prometheus.QueryEditorModeCode)
		if p.shape == asHeatmap {
			t.Format(prometheus.PromQueryFormatHeatmap)
		}
		out = append(out, t)
	}
	return out
}

func (p panel) timeline(id uint32) cog.Builder[dashboard.Panel] {
	return statetimeline.NewPanelBuilder().
		Id(id).Title(p.title).Description(p.description).Unit(p.unit).
		Span(p.width).Height(panelHeight).Datasource(datasource()).
		Mappings(mappings(p.states)).
		MergeValues(true).ShowValue(common.VisibilityModeAuto).RowHeight(0.8).FillOpacity(80).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).ShowLegend(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeSingle).Sort(common.SortOrderNone)).
		Targets(p.targets())
}

// mappings gives numbers their names.
func mappings(of []state) []dashboard.ValueMapping {
	options := map[string]dashboard.ValueMappingResult{}
	for i, s := range of {
		options[strconv.Itoa(i+1)] = dashboard.ValueMappingResult{Text: new(s.name), Color: new(s.color), Index: new(int32(i))}
	}
	return []dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: options}}}
}

// heatmap shows the buckets of a histogram as Prometheus has them.
func (p panel) heatmap(id uint32) cog.Builder[dashboard.Panel] {
	return heatmap.NewPanelBuilder().
		Id(id).Title(p.title).Description(p.description).Unit("short").
		Span(p.width).Height(panelHeight).Datasource(datasource()).
		Calculate(false).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.unit)).
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Oranges").Steps(64)).
		Targets(p.targets())
}

func (p panel) graph(id uint32) cog.Builder[dashboard.Panel] {
	b := timeseries.NewPanelBuilder().
		Id(id).Title(p.title).Description(p.description).Unit(p.unit).
		Span(p.width).Height(panelHeight).Datasource(datasource()).
		Min(0).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).ShowLegend(true).Calcs([]string{"lastNotNull", "max"})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		Targets(p.targets())
	if p.unit == "percentunit" {
		b.Max(1)
	}
	if p.shape == asBars {
		b.DrawStyle(common.GraphDrawStyleBars).FillOpacity(100).LineWidth(0).
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	}
	if p.limit {
		last := string(rune('A' + len(p.queries) - 1))
		b.OverrideByQuery(last, []dashboard.DynamicConfigValue{
			{Id: "color", Value: map[string]string{"mode": "fixed", "fixedColor": worst}},
			{Id: "custom.lineStyle", Value: map[string]any{"fill": "dash", "dash": []int{10, 10}}},
		})
	}
	return b
}
