import { parseRange, type Style } from '../../state/style.ts'
import { useRange } from '../../state/use-presets.ts'

/** The values of the first and the last colour; null until they are known. */
export function useLegendRange(itemId: string, style: Style, assetKey: string | null, enabled: boolean): readonly [number, number] | null {
  const ranges = useRange(itemId, style, assetKey, enabled)
  return parseRange(style.rescale) ?? (ranges.data ? [ranges.data.p2 ?? 0, ranges.data.p98 ?? 1] : null)
}
