/** New imagery: feasibility studies, quotations and passes of satellites. */
import type { AreaGeometry } from '#core/geometry.ts'

export interface TaskingRequest {
  readonly reference: string
  readonly productId: string
  readonly area: AreaGeometry | { readonly type: 'Point'; readonly coordinates: [number, number] }
  readonly params: Readonly<Record<string, unknown>>
}

export interface Study {
  readonly id: string
  readonly reference: string
  readonly status: 'waiting' | 'answered' | 'infeasible'
  readonly reason: string | null
  readonly options: readonly StudyOption[]
}

/** What a vendor does not state is null. */
interface StudyOption {
  readonly id: string
  readonly description: string
  /** In the source's currency, without markup; null: by contract. */
  readonly cents: number | null
  readonly acquisitionStart: string | null
  readonly acquisitionEnd: string | null
  readonly maxCloudCover: number | null
  readonly maxOffNadirDeg: number | null
}

export interface QuotationRequest extends TaskingRequest {
  readonly studyOptionId?: string
}

export interface Quotation {
  readonly id: string
  readonly reference: string
  readonly status: 'waiting' | 'issued' | 'refused'
  readonly reason: string | null
  /** In the source's currency, without markup; null while waiting. */
  readonly cents: number | null
}

export interface OpportunitySearch {
  readonly productId: string
  readonly area: AreaGeometry | { readonly type: 'Point'; readonly coordinates: [number, number] }
  readonly from: Date
  readonly to: Date
  readonly maxOffNadirDeg?: number
  readonly limit: number
}

/** What a vendor does not state is null: radar has no sun. */
export interface Opportunity {
  readonly satellite: string | null
  readonly noradId: number | null
  readonly start: string
  readonly end: string
  readonly offNadirDeg: number | null
  readonly sunElevationDeg: number | null
}
