/** How well positions are kept when they are converted from one system to another. */
import type { Crs } from '#raster/types.ts'
import { definitionsOf } from './datums.ts'

/** What of a definition says which Earth it is about; two systems that agree in it are converted without a shift of datum. */
const DATUM_PARTS = /\+(?:datum|ellps|a|b|rf|towgs84|nadgrids|pm)=\S+/g
const datumPartsOf = ({ proj4 }: Crs): string => (proj4.match(DATUM_PARTS) ?? []).toSorted().join(' ')

/** Why positions may be off by more than a pixel after the conversion; null where they are not. */
export function conversionWarning(from: Crs, to: Crs, pixelM: number | null): string | null {
  if (datumPartsOf(from) === datumPartsOf(to)) return null
  const [source, target] = definitionsOf(from, to)
  if (source !== from.proj4 || target !== to.proj4) return null // By parameters that are published for the two of them.
  const unknown = [from, to].find(({ accuracyM, note }) => accuracyM === null && note !== null)
  if (unknown) return unknown.note
  const accuracyM = Number(Math.hypot(from.accuracyM ?? 0, to.accuracyM ?? 0).toPrecision(2))
  if (pixelM === null || accuracyM <= pixelM) return null
  return (
    `Positions were converted from ${from.name} to ${to.name} with an accuracy of about ${accuracyM} m, which is more than a pixel of ` +
    `${Number(pixelM.toPrecision(2))} m`
  )
}
