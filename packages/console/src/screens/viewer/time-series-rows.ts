/** Time series of several zones as rows: one for each scene, with a column for each zone. */

/** A scene that shows less of a zone than this is a gap: clouds, or the edge of the scene. */
const MIN_VALID_FRACTION = 0.5

/** The result of `analytics.execute` with `time_series`. */
export interface ZoneSeries {
  points: { item_id: string; datetime: string | null; mean: number | null; valid_fraction: number }[]
  skipped: { item_id: string; datetime: string | null; reason: string }[]
}

export interface SeriesRow {
  itemId: string
  datetime: string
  /** By zone; null is a gap. */
  means: (number | null)[]
}

export function seriesRows(series: readonly (ZoneSeries | undefined)[]): SeriesRow[] {
  const rows = new Map<string, SeriesRow>()
  series.forEach((zone, index) => {
    for (const { item_id, datetime, mean, valid_fraction } of zone?.points ?? []) {
      if (datetime === null) continue
      const row = rows.get(item_id) ?? { itemId: item_id, datetime, means: series.map(() => null) }
      row.means[index] = valid_fraction >= MIN_VALID_FRACTION ? mean : null
      rows.set(item_id, row)
    }
  })
  return [...rows.values()].toSorted((a, b) => a.datetime.localeCompare(b.datetime))
}
