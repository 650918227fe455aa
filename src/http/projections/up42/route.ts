/** One address that clients of UP42 know: the operation behind it, and how both sides are translated. */
import type { FastifyRequest } from 'fastify'
import type { Problem } from '#core/problem.ts'

export type Json = Record<string, unknown>

/** By whom, and under which address. */
export interface Asked {
  request: FastifyRequest
  baseUrl: string
}

/** What an operation answered, for which account, and to whom. */
export type Shape = (answer: Json, accountId: string | null, asked: Asked) => unknown

export interface Route {
  method: 'GET' | 'POST' | 'PATCH'
  path: string
  operation: string
  input: (request: FastifyRequest, body: Json) => Json
  shape: Shape | 'bytes'
  /** By status: the problem with what the client reads of it. Other refusals stay as they are. */
  refusal?: Readonly<Record<number, (problem: Json) => Json>>
}

/** What a shape answers with where the operation's finding is a refusal at UP42. */
export class Refused {
  readonly problem: Problem

  constructor(problem: Problem) {
    this.problem = problem
  }
}
