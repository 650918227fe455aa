import type { Webhooks } from '#ports/webhooks.ts'

/** Concurrent deliveries to one endpoint from one process. */
export const PER_ENDPOINT = 20

/** Time for writing the outcome, in addition to the delivery's own timeout. */
const LEASE_SLACK_SECONDS = 10

export const leaseSecondsOf = ({ timeoutMs }: Webhooks): number => Math.ceil(timeoutMs / 1_000) + LEASE_SLACK_SECONDS
