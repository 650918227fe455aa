import type { FastifyRequest } from 'fastify'
import type { AnyOperation } from '#operation.ts'
import type { Invoked } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'

/** Counts and logs a call. */
export type Observe = (request: FastifyRequest, op: AnyOperation, invoked: Invoked) => void

/**
 * What routes of operations need. Every `register*` function has the signature `(app, parts)`: server.ts passes the same parts to
 * all of them, and each declares the ones that it uses.
 */
export interface RouteParts {
  platform: Platform
  observe: Observe
}
