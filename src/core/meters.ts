/** What is metered for every organization, by day. */
export const METERS = ['storage_bytes', 'egress_bytes', 'tiles', 'compute_jobs', 'processing_jobs', 'api_calls'] as const
export type Meter = (typeof METERS)[number]

/** What only ever grows within a day; storage is a level. */
export type CountedMeter = Exclude<Meter, 'storage_bytes'>
