export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof SAMPLERS)[number]

/** Whether a trace is recorded: by its ID, and if the sampler respects it, by what the caller has decided. */
export type Sampler = (traceId: string, isParentSampled: boolean | null) => boolean

const PARENT_BASED = 'parentbased_'
/** Random bits at the end of a trace ID, of which the ratio is taken: every process decides alike. */
const RATIO_DIGITS = 13

export function samplerOf(name: SamplerName, ratio: number): Sampler {
  const limit = ratio * 16 ** RATIO_DIGITS
  const own = (traceId: string): boolean => {
    if (name.endsWith('always_on')) return true
    if (name.endsWith('always_off')) return false
    return Number.parseInt(traceId.slice(-RATIO_DIGITS), 16) < limit
  }
  return name.startsWith(PARENT_BASED) ? (traceId, isParentSampled) => isParentSampled ?? own(traceId) : own
}
