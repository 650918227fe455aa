/** Longitude and latitude. A height from the caller is kept but not used. */
export type Position = [number, number]
