/** What a job costs: the same for an estimate and for the reservation. */
import { audOf, roundUpCredits } from '#core/money.ts'
import type { Context } from '#operation.ts'
import { withValidAreas } from './areas.ts'
import { validateParams } from './catalogue.ts'
import type { AnyProcess, OpenSource } from './process.ts'
import { findSources, groundOf, openSources } from './sources.ts'
import { effortOf } from './work.ts'

/** Two decimals: a square decametre. */
const PRECISION = 1e4
/** Samples read and written for a credit. Four bands of half a metre cost more by area: it is for finer pixels than are usual. */
const SAMPLES_PER_CREDIT = 1_000_000_000

interface Quote {
  credits: number
  areaSqKm: number
  /** Room that the outputs need at most. */
  bytes: number
}

/** The price by area, or by what is read and written where that is more. */
export function quote(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): Quote {
  const areaSqKm = groundOf(process, params, sources)
  const { samples, bytes } = effortOf(process, params, sources)
  // Rasters that come by their address are the operator's: their ground is what is paid for, as the estimate without them says.
  const bySamples = sources.every(({ item }) => item === null) ? 0 : roundUpCredits(samples / SAMPLES_PER_CREDIT)
  const { creditsPerKm2, minimumCredits } = process.price
  return {
    credits: Math.max(minimumCredits, roundUpCredits(areaSqKm * creditsPerKm2), bySamples),
    areaSqKm: Math.round(areaSqKm * PRECISION) / PRECISION,
    bytes,
  }
}

/** `processing.catalog.estimate`, for whoever shows a price beside something of their own. */
export async function estimate(context: Pick<Context, 'db' | 'principal' | 'raster' | 'signal'>, process: AnyProcess, given: unknown) {
  const params = await withValidAreas(validateParams(process, given, 'inputs'))
  const sources = await openSources(context, await findSources(context, process, params, null))
  if (sources.length > 0) process.check?.(params, sources)
  const { credits, areaSqKm } = quote(process, params, sources)
  return { credits, aud: audOf(credits), area_sq_km: areaSqKm }
}
