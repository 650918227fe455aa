/** Days that records are kept which every call adds to; 0 keeps them forever. */
export interface Retention {
  readonly auditDays: number
  readonly eventDays: number
  readonly deliveryDays: number
  readonly egressLogDays: number
  readonly usageDays: number
}

/** The usage of a calendar quarter stays readable, whatever the setting. */
export const MIN_USAGE_DAYS = 92

export const STANDARD_RETENTION: Retention = { auditDays: 400, eventDays: 90, deliveryDays: 30, egressLogDays: 400, usageDays: 0 }
