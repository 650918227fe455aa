import { useMemo, useState } from 'react'
import type { Asset, Item } from '../../api/contract.ts'
import { styleFromUrl, urlFromStyle, type Preset, type Style, type StyleChange } from '../../state/style.ts'
import { useUrl } from '../../state/url.ts'
import { usePresets, useRange } from '../../state/use-presets.ts'

const isRaster = ({ media_type, roles }: Asset) => (media_type ?? '').includes('tiff') && !roles.includes('thumbnail')

/** Whether a style is the preset; an expression that was typed can be one too. */
export const isPreset = (style: Style, preset: Preset): boolean =>
  style.id === null
    ? style.expression !== null && compact(style.expression) === compact(preset.style.expression ?? '')
    : preset.id === style.id

const compact = (expression: string) => expression.replaceAll(/\s/g, '')

/** The raster of the item that is shown, and its style: both are in the address. */
export function useItemStyle(item: Item, assets: readonly Asset[]) {
  const [url, setUrl] = useUrl()
  const rasters = assets.filter(isRaster)
  const named = rasters.find(({ key }) => key === url['asset']) ?? null
  const asset = named ?? rasters[0] ?? null
  const isReady = asset?.state === 'ready'
  /** Null unless the address names one: the service shows bands that are in several files as one raster. */
  const assetKey = named?.key ?? null
  const { bands, presets, initial, isLoading } = usePresets(item.id, named?.id ?? null, isReady)
  const style = useMemo(() => styleFromUrl(url, presets, initial), [url, presets, initial])
  const isExpression = style.kind === 'expression'
  const check = useRange(item.id, style, assetKey, isReady && isExpression && style.expression !== '')
  const drawnStyle = useDrawn(style, isExpression && isReady && !check.data)
  const [isAdjusting, setAdjusting] = useState(false)
  return {
    asset,
    isReady,
    assetKey,
    bands,
    presets,
    /** Until they are known, no style can be shown. */
    isLoadingPresets: isLoading,
    style,
    /** What is on the map: the last style that could be drawn, while an expression is checked or is invalid. */
    drawnStyle,
    /** The check of an expression: the range of its values, or what is wrong with it. */
    check,
    /** The name of the style; null for one that is not saved. */
    styleName: presets.find((preset) => isPreset(style, preset))?.label ?? null,
    isDefaultStyle: style.id !== null && style.id === initial?.id && style.rescale === initial.style.rescale,
    /** Whether range or colours are about to change. Until then, the service's images are all that is needed, and much smaller. */
    isAdjusting,
    startAdjusting: () => setAdjusting(true),
    setStyle: (change: StyleChange) => setUrl(urlFromStyle(style, change)),
  }
}

function useDrawn(style: Style, isHeld: boolean): Style {
  const [drawn, setDrawn] = useState(style)
  if (!isHeld && drawn !== style) setDrawn(style)
  return isHeld ? drawn : style
}

export type ItemStyle = ReturnType<typeof useItemStyle>
