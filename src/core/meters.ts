/** What is metered per organization and day. */
export const METERS = ['storage_bytes', 'egress_bytes', 'tiles', 'compute_jobs', 'processing_jobs', 'api_calls'] as const
export type Meter = (typeof METERS)[number]

/** Meters that only grow within a day; storage is a level. */
export type CountedMeter = Exclude<Meter, 'storage_bytes'>
