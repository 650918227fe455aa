/** What a job costs: the same for an estimate and for the reservation. */
import { audOf, roundUpCredits } from '#core/money.ts'
import type { Context } from '#operation.ts'
import { withValidAreas } from './areas.ts'
import { validateParams } from './catalogue.ts'
import type { AnyProcess, Source } from './process.ts'
import { findSources, groundOf } from './sources.ts'

/** Two decimals: a square decametre. */
const PRECISION = 1e4

interface Quote {
  credits: number
  areaSqKm: number
}

export function quote(process: AnyProcess, params: unknown, sources: readonly Source[]): Quote {
  const areaSqKm = groundOf(process, params, sources)
  const { creditsPerKm2, minimumCredits } = process.price
  return {
    credits: Math.max(minimumCredits, roundUpCredits(areaSqKm * creditsPerKm2)),
    areaSqKm: Math.round(areaSqKm * PRECISION) / PRECISION,
  }
}

/** `processing.catalog.estimate`, for whoever shows a price beside something of their own. */
export async function estimate(context: Pick<Context, 'db' | 'principal' | 'raster' | 'signal'>, process: AnyProcess, given: unknown) {
  const params = await withValidAreas(validateParams(process, given, 'inputs'))
  const { credits, areaSqKm } = quote(process, params, await findSources(context, process, params, null))
  return { credits, aud: audOf(credits), area_sq_km: areaSqKm }
}
