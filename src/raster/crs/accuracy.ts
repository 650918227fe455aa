/** The accuracy of conversions between coordinate reference systems. */
import type { Crs } from '#raster/types.ts'
import { definitionsOf } from './datums.ts'

/** The datum parts of a definition; systems with the same parts are converted without a datum shift. */
const DATUM_PARTS = /\+(?:datum|ellps|a|b|rf|towgs84|nadgrids|pm)=\S+/g
const datumPartsOf = ({ proj4 }: Crs): string => (proj4.match(DATUM_PARTS) ?? []).toSorted().join(' ')

/** A note if positions can be off by more than a pixel after the conversion; null otherwise. */
export function conversionWarning(from: Crs, to: Crs, pixelM: number | null): string | null {
  if (datumPartsOf(from) === datumPartsOf(to)) return null
  const [source, target] = definitionsOf(from, to)
  if (source !== from.proj4 || target !== to.proj4) return null // With published parameters for this pair.
  const unknown = [from, to].find(({ accuracyM, note }) => accuracyM === null && note !== null)
  if (unknown) return unknown.note
  const accuracyM = Number(Math.hypot(from.accuracyM ?? 0, to.accuracyM ?? 0).toPrecision(2))
  if (pixelM === null || accuracyM <= pixelM) return null
  return (
    `Positions were converted from ${from.name} to ${to.name} with an accuracy of about ${accuracyM} m, which is more than a pixel of ` +
    `${Number(pixelM.toPrecision(2))} m`
  )
}
