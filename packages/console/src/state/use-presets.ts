/** The styles that an item can be shown in, and the range of values that one shows. */
import { useMemo } from 'react'
import { useOp } from '../api/query.ts'
import { initialPreset, presetsOf, valuesInput, type Style } from './style.ts'

/** Bands with their roles, as the service detects them, and the presets that these allow. */
export function usePresets(itemId: string, assetId: string | null, isReady: boolean) {
  const bands = useOp('items.detect_asset_bands', { item_id: itemId, asset_id: assetId }, { enabled: isReady, staleTime: 60_000 })
  const roles = useMemo(
    () => Object.fromEntries((bands.data?.bands ?? []).flatMap(({ role, index }) => (role ? [[role.toUpperCase(), index]] : []))),
    [bands.data],
  )
  const isElevation =
    bands.data !== undefined && bands.data.bands.length === 1 && /dem|elevation|height/i.test(JSON.stringify(bands.data.bands))
  const listed = useOp(
    'visualization.list_for',
    { band_roles: roles, ...(isElevation ? { data_type: 'dem' } : {}) },
    { enabled: bands.data !== undefined, staleTime: 300_000 },
  )
  const profiles = useOp('visualization.profiles.list', { item_id: itemId })
  const presets = useMemo(() => presetsOf(profiles.data ?? [], listed.data?.visualizations ?? []), [profiles.data, listed.data])
  const isLoading = bands.isLoading || listed.isLoading || profiles.isLoading
  return { bands: bands.data?.bands ?? [], presets, initial: initialPreset(presets), isLoading }
}

/** Minimum, maximum and percentiles of what a style shows, over the whole item. */
export const useRange = (itemId: string, style: Style, assetKey: string | null, enabled: boolean) =>
  useOp('items.tile.statistics', { item_id: itemId, ...valuesInput(style, assetKey) }, { enabled, staleTime: 300_000 })
