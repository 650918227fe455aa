/** The only source of time for rules that a person could notice: expiry, windows, retention. Tests drive their own. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
