/** The complete client: `new Groundtrack({ baseUrl, apiKey })`. */
export * from './core.ts'
export { Groundtrack, type TileOptions } from './groundtrack.ts'
export { OPERATION_IDS } from './generated/operations.ts'
export type * from './generated/events.ts'
export type * from './generated/operations.ts'
export type * from './generated/problems.ts'
export type * from './generated/types.ts'
