import type { Webhooks } from '#ports/webhooks.ts'

/** So many deliveries to one endpoint at once from one process. */
export const PER_ENDPOINT = 20

/** Beyond the time of the delivery itself: what writing its outcome may take. */
const LEASE_SLACK_SECONDS = 10

export const leaseSecondsOf = ({ timeoutMs }: Webhooks): number => Math.ceil(timeoutMs / 1_000) + LEASE_SLACK_SECONDS
