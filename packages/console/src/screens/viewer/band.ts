/** A band of the item's raster, as the service detects it. */
export interface Band {
  index: number
  name: string
  role: string | null
}

/** The colour that a band is known by: what the eye sees, and beyond it the usual ones of false-colour images. */
const COLOURS: readonly (readonly [RegExp, string])[] = [
  [/coastal|aerosol|violet/, '#6f5bd0'],
  [/blue/, '#2f6fd6'],
  [/green/, '#2e9150'],
  [/yellow/, '#b08d00'],
  [/red ?edge|vre/, '#b8457a'],
  [/red/, '#d0433a'],
  [/nir|infra ?red/, '#9a4fb0'],
  [/swir/, '#a8682a'],
  [/thermal|tir|lwir/, '#c2571a'],
  [/pan|grey|gray/, '#7a8994'],
]
/** For bands of another kind. */
const SERIES = ['var(--c1)', 'var(--c5)', 'var(--c4)', 'var(--c3)', 'var(--c2)', 'var(--c6)']

export function colourOf({ role, name }: { role: string | null; name: string | null }, index: number): string {
  const words = `${role ?? ''} ${name ?? ''}`.toLowerCase().replaceAll(/[_-]/g, ' ')
  return COLOURS.find(([pattern]) => pattern.test(words))?.[1] ?? SERIES[index % SERIES.length]!
}
