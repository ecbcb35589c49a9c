// The dashboard for Grafana, and what makes it. Apart from the library, which needs
// nothing of Grafana.
module github.com/freshwatch/freshwatch/dashboards

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/grafana/grafana-foundation-sdk/go v0.0.22
)
