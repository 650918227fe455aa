import { useColormaps } from '../../state/colormaps.ts'
import type { ItemStyle } from './use-item-style.ts'
import { useLegendRange } from './use-legend-range.ts'
import type { ViewLegend } from './view-picture.ts'

const GREY = [
  { position: 0, color: '#000000' },
  { position: 1, color: '#ffffff' },
]

/** The legend as the map shows it; null for colours that have none. */
export function useViewLegend(itemId: string, { drawnStyle, assetKey, isReady, styleName }: ItemStyle): ViewLegend | null {
  const hasScale = isReady && drawnStyle.kind !== 'colour'
  const range = useLegendRange(itemId, drawnStyle, assetKey, hasScale)
  const colormap = useColormaps().find(({ id }) => id === drawnStyle.colormap)
  if (!hasScale || !range) return null
  return { label: styleName ?? drawnStyle.expression ?? 'Custom style', low: range[0], high: range[1], stops: colormap?.stops ?? GREY }
}
