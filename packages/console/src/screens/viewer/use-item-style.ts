import { useMemo } from 'react'
import type { Asset, Item } from '../../api/contract.ts'
import { styleFromUrl, urlFromStyle, type StyleChange } from '../../state/style.ts'
import { useUrl } from '../../state/url.ts'
import { usePresets } from '../../state/use-presets.ts'

const isRaster = ({ media_type, roles }: Asset) => (media_type ?? '').includes('tiff') && !roles.includes('thumbnail')

/** The raster of the item that is shown, and its style: both are in the address. */
export function useItemStyle(item: Item, assets: readonly Asset[]) {
  const [url, setUrl] = useUrl()
  const rasters = assets.filter(isRaster)
  const named = rasters.find(({ key }) => key === url['asset']) ?? null
  const asset = named ?? rasters[0] ?? null
  const isReady = asset?.state === 'ready'
  const { bands, presets, initial, isLoading } = usePresets(item.id, named?.id ?? null, isReady)
  const style = useMemo(() => styleFromUrl(url, presets, initial), [url, presets, initial])
  return {
    asset,
    isReady,
    /** Null unless the address names one: the service shows bands that are in several files as one raster. */
    assetKey: named?.key ?? null,
    bands,
    presets,
    /** Until they are known, no style can be shown. */
    isLoadingPresets: isLoading,
    style,
    /** The name of the style; null for one that is not saved. */
    styleName: presets.find(({ id }) => id === style.id)?.label ?? null,
    isDefaultStyle: style.id === initial?.id,
    setStyle: (change: StyleChange) => setUrl(urlFromStyle(style, change)),
  }
}

export type ItemStyle = ReturnType<typeof useItemStyle>
