/** How an item is shown: a look in the address, the tiles that draw it, and the range it is stretched to. */
import { useMemo } from 'react'
import type { Asset, Visualization, VisualizationProfile } from '../api/contract.ts'
import { useOp } from '../api/query.ts'

export interface Look {
  kind: 'colour' | 'expression' | 'band'
  /** Id of the visualization or profile it began as; null once changed by hand. */
  id: string | null
  bands: readonly number[] | null
  expression: string | null
  colormap: string | null
  /** `min,max`; null: the item's own 2nd and 98th percentile. */
  rescale: string | null
}

export interface Preset {
  id: string
  label: string
  description: string
  isProfile: boolean
  isDefault: boolean
  look: Look
}

const kindOf = ({ bands, expression }: { bands: readonly number[] | null; expression: string | null }): Look['kind'] =>
  expression ? 'expression' : (bands?.length ?? 3) >= 3 ? 'colour' : 'band'

function presetOf(from: Visualization | VisualizationProfile, label: string, description: string, isProfile: boolean): Preset {
  const { id, bands, expression, colormap, rescale, is_default } = from
  return {
    id,
    label,
    description,
    isProfile,
    isDefault: is_default,
    look: { kind: kindOf(from), id, bands, expression, colormap, rescale },
  }
}

/** Bands by their roles, as the service found them, and the looks that these allow. */
export function usePresets(itemId: string, asset: Asset | null) {
  const bands = useOp(
    'items.detect_asset_bands',
    { item_id: itemId, asset_id: asset?.id ?? null },
    { enabled: asset !== null, staleTime: 60_000 },
  )
  const roles = useMemo(
    () => Object.fromEntries((bands.data?.bands ?? []).flatMap(({ role, index }) => (role ? [[role.toUpperCase(), index]] : []))),
    [bands.data],
  )
  const isHeights =
    bands.data !== undefined && bands.data.bands.length === 1 && /dem|elevation|height/i.test(JSON.stringify(bands.data.bands))
  const listed = useOp(
    'visualization.list_for',
    { band_roles: roles, ...(isHeights ? { data_type: 'dem' } : {}) },
    { enabled: bands.data !== undefined, staleTime: 300_000 },
  )
  const profiles = useOp('visualization.profiles.list', { item_id: itemId })
  const presets = useMemo(
    () => [
      ...(profiles.data ?? []).map((profile) => presetOf(profile, profile.name, 'A profile of this item', true)),
      ...(listed.data?.visualizations ?? []).map((visualization) =>
        presetOf(visualization, visualization.label, visualization.description, false),
      ),
    ],
    [profiles.data, listed.data],
  )
  const initial =
    presets.find(({ isProfile, isDefault }) => isProfile && isDefault) ?? presets.find(({ isDefault }) => isDefault) ?? presets[0] ?? null
  return {
    bands: bands.data?.bands ?? [],
    presets,
    initial,
    isLoading: asset !== null && (bands.isPending || listed.isPending),
    error: bands.error,
  }
}

/** What stands in the address wins over where the item begins. */
export function lookFromUrl(url: Readonly<Record<string, string>>, presets: readonly Preset[], initial: Preset | null): Look {
  const { look, expr, bands, cmap, range } = url
  const base: Look = (presets.find(({ id }) => id === look) ?? initial)?.look ?? {
    kind: 'colour',
    id: null,
    bands: null,
    expression: null,
    colormap: null,
    rescale: null,
  }
  if (expr !== undefined)
    return {
      kind: 'expression',
      id: null,
      bands: null,
      expression: expr,
      colormap: cmap ?? base.colormap ?? 'viridis',
      rescale: range ?? null,
    }
  if (bands !== undefined) {
    const list = bands.split(',').map(Number)
    return {
      kind: list.length >= 3 ? 'colour' : 'band',
      id: null,
      bands: list,
      expression: null,
      colormap: cmap ?? null,
      rescale: range ?? null,
    }
  }
  return { ...base, colormap: cmap ?? base.colormap, rescale: range ?? base.rescale }
}

export function tileQuery({ bands, expression, colormap, rescale }: Look, assetKey: string | null): string {
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

export const tilesOf = (itemId: string, query: string) =>
  `${location.origin}/api/v1/items/${encodeURIComponent(itemId)}/tiles/{z}/{x}/{y}.webp${query}`

/** The ranges of what is shown, over the whole item. */
export function useRange(itemId: string, look: Look, assetKey: string | null, enabled: boolean) {
  return useOp(
    'items.tile.statistics',
    {
      item_id: itemId,
      ...(look.expression ? { expression: look.expression } : look.bands ? { bands: look.bands.join(',') } : {}),
      ...(assetKey ? { asset_key: assetKey } : {}),
    },
    { enabled, staleTime: 300_000 },
  )
}

export function parseRange(text: string | null | undefined): [number, number] | null {
  const [low, high] = (text ?? '').split(',').map(Number)
  return text && Number.isFinite(low) && Number.isFinite(high) ? [low!, high!] : null
}
