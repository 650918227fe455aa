/** Longitude and latitude; some callers send a height as well, which is kept and not looked at. */
export type Position = [number, number]
