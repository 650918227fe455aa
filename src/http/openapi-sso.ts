/** The routes of single sign-on, which are not operations but part of the same document. */
import type { TSchema } from 'typebox'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import type { Json } from './openapi-schemas.ts'
import { FindInput, SsoSignOutInput, TokenInput } from './sso.ts'

type Route = (
  id: string,
  summary: string,
  input: { schema: TSchema; example: Json },
  answer: { status: string; returns: string; schema: Json | null; example?: Json; signedIn?: true; refusals?: readonly number[] },
) => Json

const nullable = (type: string, description: string): Json => ({ type: [type, 'null'], description })
const text = (description: string): Json => ({ type: 'string', description })

const FOUND: Json = {
  type: 'object',
  description: 'Where people with this address sign in',
  required: ['choices'],
  properties: {
    choices: {
      type: 'array',
      description: 'One for each organization that has verified the domain',
      items: {
        type: 'object',
        description: 'A way to sign in',
        required: ['organization_id', 'name', 'url'],
        properties: {
          organization_id: nullable('string', "Organization ID; null for the installation's provider"),
          name: text('Name of the organization or provider'),
          url: text('Address to open in a browser, relative to the service'),
        },
      },
    },
  },
}
const SIGNED_OUT: Json = {
  type: 'object',
  description: 'The session has ended',
  required: ['provider_url'],
  properties: { provider_url: nullable('string', 'Address that ends the session at the provider too; null if it offers none') },
}

export function ssoPaths(route: Route, grant: Json): Json {
  return {
    '/auth/sso/find': route(
      'find_sso',
      'Find where people with an email address sign in. Only its domain counts.',
      { schema: FindInput, example: { email: 'ana@coastal.example' } },
      {
        status: '200',
        returns: 'Where to sign in',
        schema: FOUND,
        example: {
          choices: [
            {
              organization_id: EXAMPLE_IDS.organization,
              name: 'Coastal Survey',
              url: `/auth/sso/start?organization=${EXAMPLE_IDS.organization}`,
            },
          ],
        },
        refusals: [404],
      },
    ),
    '/auth/sso/token': route(
      'sso_token',
      'Exchange the code that a program received at its port after a sign-in in the browser.',
      {
        schema: TokenInput,
        example: { code: 'q1w2e3r4t5y6', verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' },
      },
      { status: '200', returns: 'The new session', schema: grant, refusals: [403] },
    ),
    '/auth/sso/sign-out': route(
      'sso_sign_out',
      'Sign out, and get the address that ends the session at the provider too.',
      { schema: SsoSignOutInput, example: {} },
      {
        status: '200',
        returns: 'The session has ended',
        schema: SIGNED_OUT,
        example: { provider_url: 'https://login.coastal.example/session/end' },
        refusals: [403],
      },
    ),
  }
}
