import { RASTER_ERROR_CODES, RasterError, type RasterErrorCode } from '#raster/errors.ts'

/** Messages between parent and child. Binary data is sent as is (structured clone). */
export type ParentMessage =
  | { kind: 'run'; id: number; task: string; input: unknown }
  | { kind: 'cancel'; id: number }
  | { kind: 'answer'; id: number; result: Answer }

export type Answer = { ok: true; output: unknown } | { ok: false; code: RasterErrorCode | null; message: string }

export type ChildMessage =
  | { kind: 'ready' }
  | { kind: 'progress'; id: number; progress: unknown }
  | { kind: 'ask'; id: number; question: unknown }
  | { kind: 'done'; id: number; output: unknown; rssBytes: number }
  | { kind: 'failed'; id: number; code: RasterErrorCode | null; message: string; rssBytes: number }

/** Reports the progress of a task to the parent. */
export type Report = (progress: unknown) => void

/** Runs inside a child. Must stop soon after the signal. */
export type Handler = (input: never, signal: AbortSignal, report: Report) => Promise<unknown>

/** A module that a child loads exports its handlers under this name. */
export interface HandlerModule {
  handlers: Readonly<Record<string, Handler>>
}

const MAX_MESSAGE_LENGTH = 500

/** Only raster errors keep their message; details of other errors must not leave the process. */
export function describeError(error: unknown): { code: RasterErrorCode | null; message: string } {
  if (error instanceof RasterError) return { code: error.code, message: error.message.slice(0, MAX_MESSAGE_LENGTH) }
  return { code: null, message: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, MAX_MESSAGE_LENGTH) : 'unknown error' }
}

export function reviveError(code: RasterErrorCode | null, message: string): Error {
  return code !== null && RASTER_ERROR_CODES.includes(code) ? new RasterError(code, message) : new Error(message)
}
