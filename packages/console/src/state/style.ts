/** How an item is shown: its style in the address, and the tiles that draw it. */
import type { Visualization, VisualizationProfile } from '../api/contract.ts'

export interface Style {
  kind: 'colour' | 'expression' | 'band'
  /** Id of the visualization or profile that it is; null once it was changed. */
  id: string | null
  bands: readonly number[] | null
  expression: string | null
  colormap: string | null
  /** `min,max`; null for the 2nd and 98th percentile of the item. */
  rescale: string | null
}

/** A style with a name: a built-in visualization, or a profile that was saved for the item. */
export interface Preset {
  id: string
  label: string
  description: string
  isProfile: boolean
  isDefault: boolean
  style: Style
}

/** A change to a style: some of its fields, or another preset. */
export type StyleChange = Partial<Style> & { preset?: string }

const MIN_COLOUR_BANDS = 3
const PLAIN: Style = { kind: 'colour', id: null, bands: null, expression: null, colormap: null, rescale: null }

const kindOf = ({ bands, expression }: Pick<Style, 'bands' | 'expression'>): Style['kind'] =>
  expression ? 'expression' : (bands?.length ?? MIN_COLOUR_BANDS) >= MIN_COLOUR_BANDS ? 'colour' : 'band'

function presetOf(from: Visualization | VisualizationProfile, label: string, description: string, isProfile: boolean): Preset {
  const { id, bands, expression, colormap, rescale, is_default } = from
  const style = { kind: kindOf(from), id, bands, expression, colormap, rescale }
  return { id, label, description, isProfile, isDefault: is_default, style }
}

/** Profiles of the item come first. */
export const presetsOf = (profiles: readonly VisualizationProfile[], visualizations: readonly Visualization[]): Preset[] => [
  ...profiles.map((profile) => presetOf(profile, profile.name, 'Saved for this item', true)),
  ...visualizations.map((visualization) => presetOf(visualization, visualization.label, visualization.description, false)),
]

/** The preset that an item is shown with until another is chosen. */
export const initialPreset = (presets: readonly Preset[]): Preset | null =>
  presets.find(({ isProfile, isDefault }) => isProfile && isDefault) ?? presets.find(({ isDefault }) => isDefault) ?? presets[0] ?? null

/** The search parameters of a style. */
type StyleUrl = { readonly [name in 'style' | 'expr' | 'bands' | 'cmap' | 'range']?: string | undefined }

/** What the address says wins over the preset. Text that is not a style counts as absent. */
export function styleFromUrl(url: StyleUrl, presets: readonly Preset[], initial: Preset | null): Style {
  const base = (presets.find(({ id }) => id === url.style) ?? initial)?.style ?? PLAIN
  const rescale = parseRange(url.range) ? url.range! : null
  if (url.expr !== undefined)
    return { ...PLAIN, kind: 'expression', expression: url.expr, colormap: url.cmap ?? base.colormap ?? 'viridis', rescale }
  const bands = parseBands(url.bands)
  if (bands) return { ...PLAIN, kind: kindOf({ bands, expression: null }), bands, colormap: url.cmap ?? null, rescale }
  return { ...base, colormap: url.cmap ?? base.colormap, rescale: rescale ?? base.rescale }
}

/** The search parameters after a change; null removes a parameter. */
export function urlFromStyle(style: Style, change: StyleChange): { [name in keyof StyleUrl]-?: string | null } {
  if (change.preset !== undefined) return { style: change.preset, expr: null, bands: null, cmap: null, range: null }
  return {
    style: null,
    expr: change.expression || null,
    bands: change.expression ? null : (change.bands?.join(',') ?? null),
    cmap: change.colormap ?? style.colormap,
    range: change.rescale ?? null,
  }
}

const PROFILE_TYPES = { colour: 'rgb', expression: 'expression', band: 'singleband' } as const
const MAX_PROFILE_NAME = 100

/** A style as a profile to be saved. */
export const profileOf = ({ kind, bands, expression, colormap, rescale }: Style, name: string) => ({
  name: name.slice(0, MAX_PROFILE_NAME),
  type: PROFILE_TYPES[kind],
  config: { bands: expression ? null : [...(bands ?? [])], expression, colormap, rescale },
})

/** What is drawn, without how: the part of a style that stays when its colormap or range changes. */
export const contentOf = ({ kind, bands, expression }: Style): StyleChange => (kind === 'expression' ? { expression } : { bands })

/** The query of tiles in this style. */
export function tileQuery({ bands, expression, colormap, rescale }: Style, assetKey: string | null): string {
  const parts: [string, string | null][] = [
    ['asset_key', assetKey],
    ['expression', expression],
    ['bands', expression ? null : (bands?.join(',') ?? null)],
    ['colormap', expression || bands?.length === 1 ? colormap : null],
    ['rescale', rescale],
  ]
  const query = new URLSearchParams(parts.filter((part): part is [string, string] => Boolean(part[1]))).toString()
  return query ? `?${query}` : ''
}

/** The style as a layer of a map keeps it: by its ID if it has one, so that the map follows a profile that is changed. */
export const mapStyleOf = ({ id, bands, expression, colormap, rescale }: Style, assetKey: string | null) => ({
  asset_key: assetKey,
  rescale,
  ...(id === null
    ? { expression, bands: expression ? null : (bands?.join(',') ?? null), colormap: expression || bands?.length === 1 ? colormap : null }
    : { profile: id }),
})

/** The URL template of an item's tiles. */
export const tileUrl = (itemId: string, query: string) =>
  `${location.origin}/api/v1/items/${encodeURIComponent(itemId)}/tiles/{z}/{x}/{y}.webp${query}`

/** The URL template of the samples that an item's tiles are rendered from. A range for all bands and colours are applied to them later. */
export const dataTileUrl = (itemId: string, style: Style, assetKey: string | null) =>
  tileUrl(itemId, tileQuery({ ...style, colormap: null, rescale: parseRange(style.rescale) ? null : style.rescale }, assetKey)).replace(
    '{y}.webp',
    '{y}.bin',
  )

/** The input of operations that read the values a style shows. */
export const valuesInput = ({ expression, bands }: Style, assetKey: string | null) => ({
  ...(expression ? { expression } : bands ? { bands: bands.join(',') } : {}),
  ...(assetKey ? { asset_key: assetKey } : {}),
})

export function parseRange(text: string | null | undefined): [number, number] | null {
  const numbers = (text ?? '').split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [low, high] = numbers
  return numbers.length === 2 && Number.isFinite(low) && Number.isFinite(high) ? [low!, high!] : null
}

export const formatRange = (range: readonly number[]) => range.map((value) => Number(value.toPrecision(6))).join(',')

function parseBands(text: string | undefined): number[] | null {
  const bands = (text ?? '').split(',').map(Number)
  return bands.every((band) => Number.isInteger(band) && band > 0) ? bands : null
}
