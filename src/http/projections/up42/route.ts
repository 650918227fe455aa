/** One route of UP42's API: its operation, and how the request and the response are converted. */
import type { FastifyRequest } from 'fastify'
import type { Problem } from '#core/problem.ts'

export type Json = Record<string, unknown>

/** The caller and the base URL. */
export interface RequestInfo {
  request: FastifyRequest
  baseUrl: string
}

/** The response of an operation, with the account and the request. */
export type Shape = (document: Json, accountId: string | null, info: RequestInfo) => unknown

export interface Route {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  operation: string
  input: (request: FastifyRequest, body: Json) => Json
  shape: Shape | 'bytes'
  /** Converts problems by status to what the client reads. Others are returned unchanged. */
  refusal?: Readonly<Record<number, (problem: Json) => Json>>
}

/** Returned by a shape if the operation's result is an error at UP42. */
export class ShapeProblem {
  readonly problem: Problem

  constructor(problem: Problem) {
    this.problem = problem
  }
}
