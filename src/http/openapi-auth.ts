import { problemResponses } from './projections/tiles.ts'
import type { TSchema } from 'typebox'
import { EXAMPLE_IDS } from '#wire/examples.ts'
import {
  AcceptInput,
  DeleteAccountInput,
  DeleteOrganizationInput,
  PasswordInput,
  RefreshInput,
  SignInInput,
  SignOutEverywhereInput,
  SignOutInput,
  SignUpInput,
} from './auth.ts'
import { ConfirmInput, ForgotInput, MailChoice, ResetInput } from './mailed.ts'

type Json = Record<string, unknown>

type Route = (
  id: string,
  summary: string,
  input: { schema: TSchema; example: Json },
  answer: { status: string; schema: Json | null; example?: Json; signedIn?: true; refusals?: readonly number[] },
) => Json

/** The routes under `/auth`: they are no operations, and stand in the document beside them. */
export function authPaths(schemas: Json, hoist: (schema: TSchema, schemas: Json) => Json): Json {
  const route: Route = (id, summary, input, answer) => ({
    post: {
      operationId: `auth.${id}`,
      summary,
      tags: ['Sign-in'],
      security: answer.signedIn ? [{ bearer: [] }] : [],
      requestBody: { required: true, content: { 'application/json': { schema: hoist(input.schema, schemas), example: input.example } } },
      responses: {
        [answer.status]: {
          description: 'Done',
          ...(answer.schema
            ? { content: { 'application/json': { schema: answer.schema, example: answer.example ?? EXAMPLE_GRANT } } }
            : {}),
        },
        '400': { $ref: '#/components/responses/Problem400' },
        '401': { $ref: '#/components/responses/Problem401' },
        ...problemResponses(...(answer.refusals ?? [])),
        '422': { $ref: '#/components/responses/Problem422' },
        '429': { $ref: '#/components/responses/Problem429' },
      },
    },
  })
  schemas['Grant'] = GRANT_SCHEMA
  const grant = { $ref: '#/components/schemas/Grant' }
  return {
    '/auth/sign-up': route(
      'sign_up',
      'Make an account. It belongs to no organization until it founds one or accepts an invitation.',
      { schema: SignUpInput, example: { email: EMAIL, password: PASSWORD, name: EXAMPLE_GRANT.user.name } },
      { status: '201', schema: grant, refusals: [403, 409] },
    ),
    '/auth/sign-in': route(
      'sign_in',
      'Exchange email and password for a session.',
      { schema: SignInInput, example: { email: EMAIL, password: PASSWORD } },
      { status: '200', schema: grant, refusals: [403] },
    ),
    '/auth/refresh': route(
      'refresh',
      'Spend a refresh token for a new pair; may switch the organization.',
      { schema: RefreshInput, example: { refresh_token: EXAMPLE_GRANT.refresh_token } },
      { status: '200', schema: grant, refusals: [403] },
    ),
    '/auth/sign-out': route(
      'sign_out',
      'End the session of a refresh token.',
      { schema: SignOutInput, example: { refresh_token: EXAMPLE_GRANT.refresh_token } },
      { status: '204', schema: null },
    ),
    ...accountPaths(route),
    ...mailedPaths(route, hoist(MailChoice, schemas)),
  }
}

function accountPaths(route: Route): Json {
  return {
    '/auth/invitations/accept': route(
      'accept_invitation',
      'Join what an invitation is for, by the token of its link.',
      { schema: AcceptInput, example: { token: 'inv_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE' } },
      {
        status: '200',
        schema: ACCEPTED_SCHEMA,
        example: { organization_id: EXAMPLE_IDS.organization, role: 'member' },
        signedIn: true,
        refusals: [403, 404, 409],
      },
    ),
    '/auth/password': route(
      'password',
      'Change the password; every other session ends.',
      { schema: PasswordInput, example: { password: PASSWORD, new_password: 'another one that is long enough' } },
      { status: '204', schema: null, signedIn: true, refusals: [403] },
    ),
    '/auth/sign-out-everywhere': route(
      'sign_out_everywhere',
      'End every session, this one too.',
      { schema: SignOutEverywhereInput, example: {} },
      { status: '204', schema: null, signedIn: true, refusals: [403] },
    ),
    '/auth/delete-account': route(
      'delete_account',
      'End the account with its keys, sessions and memberships.',
      { schema: DeleteAccountInput, example: { password: PASSWORD } },
      { status: '204', schema: null, signedIn: true, refusals: [403, 409] },
    ),
    '/auth/delete-organization': route(
      'delete_organization',
      'End an organization with everything in it; for its owners.',
      { schema: DeleteOrganizationInput, example: { organization_id: EXAMPLE_IDS.organization, password: PASSWORD } },
      { status: '204', schema: null, signedIn: true, refusals: [403, 404, 409] },
    ),
    ...asked,
  }
}

function mailedPaths(route: Route, choice: Json): Json {
  const example = { notification_mail: 'instant' }
  return {
    '/auth/forgot': route(
      'forgot',
      'Ask for a mail with a link to a new password. The answer is the same for every address.',
      { schema: ForgotInput, example: { email: EMAIL } },
      { status: '202', schema: FORGOT_SCHEMA, example: { status: 'accepted' } },
    ),
    '/auth/reset': route(
      'reset',
      'Choose a new password by the token of a mail, which works once and for 30 minutes; every session ends.',
      { schema: ResetInput, example: { token: MAIL_TOKEN, password: 'another one that is long enough' } },
      { status: '204', schema: null },
    ),
    '/auth/confirm': route(
      'confirm',
      'Confirm an address by the token of a mail, which works once and for 7 days.',
      { schema: ConfirmInput, example: { token: MAIL_TOKEN } },
      { status: '204', schema: null },
    ),
    '/auth/notifications': {
      get: {
        operationId: 'auth.notifications',
        summary: 'When notifications of the signed-in person are mailed.',
        tags: ['Sign-in'],
        security: [{ bearer: [] }],
        responses: {
          '200': { description: 'Done', content: { 'application/json': { schema: choice, example } } },
          '401': { $ref: '#/components/responses/Problem401' },
          '403': { $ref: '#/components/responses/Problem403' },
        },
      },
      ...route(
        'choose_notifications',
        'Choose when notifications are mailed: from now on, not what lies in the inbox already.',
        { schema: MailChoice, example },
        { status: '204', schema: null, signedIn: true, refusals: [403] },
      ),
    },
  }
}

const EMAIL = 'ana@example.com'
const MAIL_TOKEN = 'bm90X2FfcmVhbF90b2tlbl9idXRfYXNfbG9uZ19hc19vbmU'
const FORGOT_SCHEMA = { type: 'object', required: ['status'], properties: { status: { const: 'accepted' } } }
const PASSWORD = 'at least ten characters'
const EXAMPLE_GRANT = {
  access_token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk5ZjJjMyJ9.c2lnbmF0dXJl',
  token_type: 'Bearer',
  expires_in: 900,
  refresh_token: 'qW9kX2Zpcm1seV9ub3RfYV9yZWFsX3Rva2VuX2F0X2Fs',
  user: { id: EXAMPLE_IDS.otherUser, email: EMAIL, name: 'Ana Pereira' },
  organization_id: EXAMPLE_IDS.organization,
}

const text = { type: 'string' }
const USER_SCHEMA = { type: 'object', required: ['id', 'email', 'name'], properties: { id: text, email: text, name: text } }
const GRANT_SCHEMA = {
  type: 'object',
  required: ['access_token', 'token_type', 'expires_in', 'user', 'organization_id'],
  properties: {
    access_token: text,
    token_type: { const: 'Bearer' },
    expires_in: { type: 'integer' },
    refresh_token: { type: 'string', description: 'Absent when it went into the cookie that was asked for.' },
    user: USER_SCHEMA,
    organization_id: { type: ['string', 'null'] },
  },
}
const ACCEPTED_SCHEMA = {
  type: 'object',
  required: ['organization_id', 'role'],
  properties: { organization_id: text, project_id: text, role: { enum: ['admin', 'member', 'editor', 'viewer'] } },
}
const SESSIONS_SCHEMA = {
  type: 'object',
  required: ['sessions'],
  properties: {
    sessions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'organization_id', 'created_at', 'last_used_at', 'expires_at', 'is_current'],
        properties: {
          id: text,
          organization_id: { type: ['string', 'null'] },
          created_at: text,
          last_used_at: text,
          expires_at: text,
          is_current: { type: 'boolean' },
        },
      },
    },
  },
}
const ME_SCHEMA = {
  type: 'object',
  required: ['user', 'organizations'],
  properties: {
    user: USER_SCHEMA,
    organizations: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'name', 'role', 'per_order_limit_credits', 'spend_limit_credits', 'spent_30d_credits'],
        properties: {
          id: text,
          name: text,
          role: { enum: ['owner', 'admin', 'member'] },
          per_order_limit_credits: {
            type: ['integer', 'null'],
            description: 'The most that the person may spend on one order; null: no limit',
          },
          spend_limit_credits: { type: ['integer', 'null'], description: 'The most within any 30 days; null: no limit' },
          spent_30d_credits: { type: 'integer', description: 'What counts towards that limit now' },
        },
      },
    },
  },
}

const asked: Json = {
  '/auth/sessions': {
    get: {
      operationId: 'auth.sessions',
      summary: 'The sessions of the signed-in person that have not ended.',
      tags: ['Sign-in'],
      security: [{ bearer: [] }],
      responses: {
        '200': { description: 'Done', content: { 'application/json': { schema: SESSIONS_SCHEMA } } },
        '401': { $ref: '#/components/responses/Problem401' },
        '403': { $ref: '#/components/responses/Problem403' },
      },
    },
  },
  '/auth/me': {
    get: {
      operationId: 'auth.me',
      summary: 'The signed-in person and their organizations.',
      tags: ['Sign-in'],
      security: [{ bearer: [] }],
      responses: {
        '200': { description: 'Done', content: { 'application/json': { schema: ME_SCHEMA } } },
        '401': { $ref: '#/components/responses/Problem401' },
        '403': { $ref: '#/components/responses/Problem403' },
      },
    },
  },
}
