// SPDX-FileCopyrightText: The Freshwatch Authors
// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// variables are what a reader chooses above the panels. A series without the label of a
// variable is among all of its values.
func variables() []cog.Builder[dashboard.VariableModel] {
	return []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
		choice("namespace", "Namespace", `label_values({__name__=~"freshwatch_.+"}, namespace)`),
		choice("job", "Program", `label_values({__name__=~"freshwatch_.+",namespace=~"$namespace"}, job)`),
		choice("resource", "Resource", `label_values({__name__=~"freshwatch_.+",`+selected+`}, resource)`),
		dashboard.NewTextBoxVariableBuilder("limit").Label("Limit of the staleness bound, in seconds").
			Description("freshness.Options.MaxStaleness of your programs.").
			DefaultValue(dashboard.StringOrMap{String: new("75")}),
	}
}

func choice(name, label, query string) cog.Builder[dashboard.VariableModel] {
	all := dashboard.VariableOption{
		Selected: new(true),
		Text:     dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}},
		Value:    dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
	}
	return dashboard.NewQueryVariableBuilder(name).Label(label).
		Datasource(datasource()).
		Query(dashboard.StringOrMap{String: &query}).Definition(query).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(dashboard.VariableSortAlphabeticalAsc).
		Multi(true).IncludeAll(true).AllValue(".*").Current(all)
}
