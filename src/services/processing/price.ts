/** The price of a job, which is the same for estimate and reservation. */
import { audOf, roundUpCredits } from '#core/money.ts'
import type { Context } from '#operation.ts'
import { withValidAreas } from './areas.ts'
import { validateParams } from './catalogue.ts'
import type { AnyProcess, OpenSource } from './process.ts'
import { findSources, areaSqKmOf, openSources } from './sources.ts'
import { effortOf } from './work.ts'

/** Areas are rounded to four decimals, which is 100 m². */
const PRECISION = 1e4
/** Samples read and written per credit. It matters only for unusually fine pixels: four bands at 0.5 m cost more by area. */
const SAMPLES_PER_CREDIT = 1_000_000_000

interface Quote {
  credits: number
  areaSqKm: number
  /** Maximum storage of the outputs. */
  bytes: number
}

/** The price by area or by samples, whichever is higher. */
export function quote(process: AnyProcess, params: unknown, sources: readonly OpenSource[]): Quote {
  const areaSqKm = areaSqKmOf(process, params, sources)
  const { samples, bytes } = effortOf(process, params, sources)
  // Rasters by URL belong to the operator: only the area is charged, as in the estimate without them.
  const bySamples = sources.every(({ item }) => item === null) ? 0 : roundUpCredits(samples / SAMPLES_PER_CREDIT)
  const { creditsPerKm2, minimumCredits } = process.price
  const isFree = process.isFree?.(params) ?? false
  return {
    credits: isFree ? 0 : Math.max(minimumCredits, roundUpCredits(areaSqKm * creditsPerKm2), bySamples),
    areaSqKm: Math.round(areaSqKm * PRECISION) / PRECISION,
    bytes,
  }
}

/** The estimate of `processing.catalog.estimate`, for operations that also return a price. */
export async function estimate(
  context: Pick<Context, 'db' | 'principal' | 'raster' | 'vendors' | 'signal'>,
  process: AnyProcess,
  input: unknown,
) {
  const params = await withValidAreas(validateParams(process, input, 'inputs'))
  const sources = await openSources(context, await findSources(context, process, params, null))
  if (sources.length > 0) process.check?.(params, sources)
  const { credits, areaSqKm } = quote(process, params, sources)
  return { credits, aud: audOf(credits), area_sq_km: areaSqKm }
}
