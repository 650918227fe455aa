/** The only source of time for rules that users can notice: expiry, windows, retention. Tests set their own. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
