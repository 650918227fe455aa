/** What the routes under `/auth` have in common in the OpenAPI document. */
import type { TSchema } from 'typebox'
import type { Json } from './openapi-schemas.ts'

export type Route = (
  id: string,
  summary: string,
  input: { schema: TSchema; example: Json },
  answer: { status: string; returns: string; schema: Json | null; example?: Json; signedIn?: true; refusals?: readonly number[] },
) => Json

export type Read = (id: string, summary: string, returns: string, schema: Json) => Json

export const MAIL_TOKEN = 'bm90X2FfcmVhbF90b2tlbl9idXRfYXNfbG9uZ19hc19vbmU'
export const PASSWORD = 'at least ten characters'

export const text = (description: string, format?: string) => ({ type: 'string', ...(format ? { format } : {}), description })
export const object = (description: string, properties: Json, optional: readonly string[] = []): Json => ({
  type: 'object',
  description,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})

export const USER_SCHEMA = {
  ...object('The signed-in user', { id: text('User ID'), email: text('Email address'), name: text('Display name of the user') }),
  $id: 'SignedInUser',
}
export const GRANT_SCHEMA = {
  ...object(
    'Tokens of a session',
    {
      access_token: text('Access token to send as `Authorization: Bearer …`'),
      token_type: { type: 'string', const: 'Bearer', description: 'Token type, always `Bearer`' },
      expires_in: { type: 'integer', description: 'Seconds until the access token expires' },
      refresh_token: text('Refresh token; absent if it was set as a cookie'),
      user: USER_SCHEMA,
      organization_id: { type: ['string', 'null'], description: 'ID of the active organization; null if the user has none' },
    },
    ['refresh_token'],
  ),
  $id: 'Grant',
}
