/**
 * What a browser keeps while its user is at a provider: one cookie for each attempt, so that two tabs do not disturb each other. It is
 * sent along when the provider leads the browser back (`Lax`), and scripts cannot read it.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

const NAME = 'groundtrack_sso_'
const PATH = '/auth/sso'
const STATE = /^[\w-]{43}$/
const STATE_CHARACTERS = 16

const nameOf = (state: string, isSecure: boolean): string => `${isSecure ? '__Secure-' : ''}${NAME}${state.slice(0, STATE_CHARACTERS)}`

interface AttemptCookie {
  state: string
  /** Base64. */
  value: string
  seconds: number
}

export function setAttemptCookie(reply: FastifyReply, isSecure: boolean, { state, value, seconds }: AttemptCookie): void {
  const text = Buffer.from(value, 'base64').toString('base64url')
  const parts = [`${nameOf(state, isSecure)}=${text}`, `Path=${PATH}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax']
  reply.header('Set-Cookie', [...parts, ...(isSecure ? ['Secure'] : [])].join('; '))
}

export function clearAttemptCookie(reply: FastifyReply, isSecure: boolean, state: string | null): void {
  if (state !== null && STATE.test(state)) setAttemptCookie(reply, isSecure, { state, value: '', seconds: 0 })
}

/** Null if there is none, or more than one: one of them may have been planted. */
export function readAttemptCookie(request: FastifyRequest, isSecure: boolean, state: string | null): string | null {
  if (state === null || !STATE.test(state)) return null
  const wanted = nameOf(state, isSecure)
  const values = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim().split('='))
    .filter(([name]) => name === wanted)
    .map(([, value]) => value ?? '')
  return values.length === 1 && values[0] ? Buffer.from(values[0], 'base64url').toString('base64') : null
}
