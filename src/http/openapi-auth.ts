import { problemResponses } from './projections/tiles.ts'
import type { TSchema } from 'typebox'
import { hoist, named, requestName, responseName, type Json } from './openapi-schemas.ts'
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
import { LANGUAGES, UNITS } from '#core/vocabulary.ts'
import { GRANT_SCHEMA, MAIL_TOKEN, object, PASSWORD, text, USER_SCHEMA, type Read, type Route } from './openapi-parts.ts'
import { secondStepPaths, settingsPaths, twoFactorPaths } from './openapi-account.ts'
import { ssoPaths } from './openapi-sso.ts'
import { ConfirmInput, ForgotInput, MailChoice, ResetInput } from './mailed.ts'

/** The routes under `/auth`, which are not operations but part of the same document. */
export function authPaths(schemas: Json): Json {
  const request = (id: string, schema: TSchema) => named(requestName(`auth.${id}`), schema, schemas, `Request body of \`auth.${id}\``)
  const response = (id: string, schema: Json) => named(responseName(`auth.${id}`), schema, schemas, `Response of \`auth.${id}\``)
  const route: Route = (id, summary, input, answer) => ({
    post: {
      operationId: `auth.${id}`,
      summary,
      tags: ['Sign-in'],
      security: answer.signedIn ? [{ bearer: [] }] : [],
      requestBody: { required: true, content: { 'application/json': { schema: request(id, input.schema), example: input.example } } },
      responses: {
        [answer.status]: {
          description: answer.returns,
          ...(answer.schema
            ? { content: { 'application/json': { schema: response(id, answer.schema), example: answer.example ?? EXAMPLE_GRANT } } }
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
  const grant = GRANT_SCHEMA
  return {
    '/auth/sign-up': route(
      'sign_up',
      'Create an account. It has no organization until it creates one or accepts an invitation.',
      { schema: SignUpInput, example: { email: EMAIL, password: PASSWORD, name: EXAMPLE_GRANT.user.name } },
      { status: '201', returns: 'The new session', schema: grant, refusals: [403, 409] },
    ),
    '/auth/sign-in': route(
      'sign_in',
      'Sign in with email and password.',
      { schema: SignInInput, example: { email: EMAIL, password: PASSWORD } },
      { status: '200', returns: 'The new session', schema: grant, refusals: [403] },
    ),
    '/auth/refresh': route(
      'refresh',
      'Exchange a refresh token for new tokens, optionally for another organization.',
      { schema: RefreshInput, example: { refresh_token: EXAMPLE_GRANT.refresh_token } },
      { status: '200', returns: 'The renewed session', schema: grant, refusals: [403] },
    ),
    '/auth/sign-out': route(
      'sign_out',
      'Sign out: end the session of a refresh token.',
      { schema: SignOutInput, example: { refresh_token: EXAMPLE_GRANT.refresh_token } },
      { status: '204', returns: 'The session has ended', schema: null },
    ),
    ...accountPaths(route, schemas),
    ...secondStepPaths(route),
    ...twoFactorPaths(route, accountRead(schemas)),
    ...settingsPaths(route),
    ...mailedPaths(route, hoist(MailChoice, schemas)),
    ...ssoPaths(route, grant),
  }
}

function accountPaths(route: Route, schemas: Json): Json {
  return {
    '/auth/invitations/preview': route(
      'preview_invitation',
      'Read who invites whom, and to what, with the token of the link. The invitation stays open.',
      { schema: AcceptInput, example: { token: 'inv_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE' } },
      {
        status: '200',
        returns: 'The open invitation',
        schema: PREVIEW_SCHEMA,
        example: {
          organization: 'Reef Watch',
          role: 'member',
          inviter: 'Ana',
          email: 'ben@example.com',
          expires_at: '2026-03-15T10:00:00.000Z',
        },
        refusals: [404],
      },
    ),
    '/auth/invitations/accept': route(
      'accept_invitation',
      'Accept an invitation with the token of its link.',
      { schema: AcceptInput, example: { token: 'inv_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE' } },
      {
        status: '200',
        returns: 'The new membership',
        schema: ACCEPTED_SCHEMA,
        example: { organization_id: EXAMPLE_IDS.organization, role: 'member' },
        signedIn: true,
        refusals: [403, 404, 409],
      },
    ),
    '/auth/password': route(
      'password',
      'Change the password and end all other sessions.',
      { schema: PasswordInput, example: { password: PASSWORD, new_password: 'another one that is long enough' } },
      { status: '204', returns: 'The password was changed', schema: null, signedIn: true, refusals: [403] },
    ),
    '/auth/sign-out-everywhere': route(
      'sign_out_everywhere',
      'Sign out everywhere: end all sessions, including this one.',
      { schema: SignOutEverywhereInput, example: {} },
      { status: '204', returns: 'All sessions have ended', schema: null, signedIn: true, refusals: [403] },
    ),
    '/auth/delete-account': route(
      'delete_account',
      'Delete the account with its API keys, sessions and memberships.',
      { schema: DeleteAccountInput, example: { password: PASSWORD } },
      { status: '204', returns: 'The account was deleted', schema: null, signedIn: true, refusals: [403, 409] },
    ),
    '/auth/delete-organization': route(
      'delete_organization',
      'Delete an organization and all its data. Owners only.',
      { schema: DeleteOrganizationInput, example: { organization_id: EXAMPLE_IDS.organization, password: PASSWORD } },
      { status: '204', returns: 'The organization was deleted', schema: null, signedIn: true, refusals: [403, 404, 409] },
    ),
    ...accountReads(schemas),
  }
}

function mailedPaths(route: Route, choice: Json): Json {
  const example = { notification_mail: 'instant' }
  return {
    '/auth/forgot': route(
      'forgot',
      'Request an email with a password reset link. The response is the same for every address.',
      { schema: ForgotInput, example: { email: EMAIL } },
      { status: '202', returns: 'The request was accepted', schema: FORGOT_SCHEMA, example: { status: 'accepted' } },
    ),
    '/auth/reset': route(
      'reset',
      'Set a new password with the token of an email, which works once and expires after 30 minutes. All sessions end.',
      { schema: ResetInput, example: { token: MAIL_TOKEN, password: 'another one that is long enough' } },
      { status: '204', returns: 'The password was changed', schema: null },
    ),
    '/auth/confirm': route(
      'confirm',
      'Confirm an email address with the token of an email, which works once and expires after 7 days.',
      { schema: ConfirmInput, example: { token: MAIL_TOKEN } },
      { status: '204', returns: 'The email address is confirmed', schema: null },
    ),
    '/auth/notifications': {
      get: {
        operationId: 'auth.notifications',
        summary: 'Get when notifications of the signed-in user are emailed.',
        tags: ['Sign-in'],
        security: [{ bearer: [] }],
        responses: {
          '200': { description: 'When notifications are emailed', content: { 'application/json': { schema: choice, example } } },
          '401': { $ref: '#/components/responses/Problem401' },
          '403': { $ref: '#/components/responses/Problem403' },
        },
      },
      ...route(
        'choose_notifications',
        'Set when future notifications are emailed.',
        { schema: MailChoice, example },
        { status: '204', returns: 'The choice was saved', schema: null, signedIn: true, refusals: [403] },
      ),
    },
  }
}

const EMAIL = 'ana@example.com'
const FORGOT_SCHEMA = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', const: 'accepted', description: 'Always `accepted`, whether or not the account exists' } },
}
const EXAMPLE_GRANT = {
  access_token: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIwMTk5ZjJjMyJ9.c2lnbmF0dXJl',
  token_type: 'Bearer',
  expires_in: 900,
  refresh_token: 'qW9kX2Zpcm1seV9ub3RfYV9yZWFsX3Rva2VuX2F0X2Fs',
  user: { id: EXAMPLE_IDS.otherUser, email: EMAIL, name: 'Ana Pereira' },
  organization_id: EXAMPLE_IDS.organization,
}

const ACCEPTED_SCHEMA = object(
  'The new membership',
  {
    organization_id: text('Organization ID'),
    project_id: text('Project ID; absent if the invitation is for the organization only'),
    role: { type: 'string', enum: ['admin', 'member', 'editor', 'viewer'], description: 'Role of the new member' },
  },
  ['project_id'],
)
const PREVIEW_SCHEMA = object(
  'An open invitation',
  {
    organization: text('Name of the organization'),
    role: { type: 'string', enum: ['admin', 'member'], description: 'Role in the organization that the invitation gives' },
    project: text('Name of the project; absent if the invitation is for the organization only'),
    project_role: { type: 'string', enum: ['admin', 'editor', 'viewer'], description: 'Role in the project; absent without a project' },
    inviter: { type: ['string', 'null'], description: 'Name of the inviter; null if their account was deleted' },
    email: text('Email address that was invited'),
    expires_at: text('Expiry time'),
  },
  ['project', 'project_role'],
)
const SESSIONS_SCHEMA = object('Active sessions', {
  sessions: {
    type: 'array',
    description: 'Active sessions of the user',
    items: object('A session', {
      id: text('Session ID'),
      organization_id: { type: ['string', 'null'], description: 'ID of the active organization; null if the user has none' },
      device: text('Browser and system of the last use, for example `Firefox on Windows`'),
      address: { type: ['string', 'null'], description: 'IP address of the last use; null if it is not known' },
      created_at: text('Time of the sign-in'),
      last_used_at: text('Time the session was last used'),
      expires_at: text('Expiry time'),
      is_current: { type: 'boolean', description: 'Whether this is the session of the request' },
    }),
  },
})
const ME_SCHEMA = object('The signed-in user and their organizations', {
  user: USER_SCHEMA,
  can_clip_areas: { type: 'boolean', description: "Whether the user can use the operator's clip areas" },
  language: {
    type: ['string', 'null'],
    enum: [...LANGUAGES, null],
    description: 'Language of numbers and dates in the console, as a tag; null for the default',
  },
  units: {
    type: ['string', 'null'],
    enum: [...UNITS, null],
    description: 'Units of areas and lengths in the console; null for the default',
  },
  pending_email: { type: ['string', 'null'], description: 'New email address that awaits confirmation; null if none' },
  has_two_factors: { type: 'boolean', description: 'Whether the account has two-factor sign-in' },
  organizations: {
    type: 'array',
    description: 'Organizations of the user',
    items: object('An organization of the user', {
      id: text('Organization ID'),
      name: text('Display name of the organization'),
      role: { type: 'string', enum: ['owner', 'admin', 'member'], description: 'Role in the organization' },
      requires_two_factors: { type: 'boolean', description: 'Whether the organization requires two-factor sign-in' },
      per_order_limit_credits: { type: ['integer', 'null'], description: 'Maximum credits per order; null for no limit' },
      spend_limit_credits: { type: ['integer', 'null'], description: 'Maximum credits in any 30 days; null for no limit' },
      spent_30d_credits: { type: 'integer', description: 'Credits spent in the last 30 days' },
    }),
  },
})

function accountRead(schemas: Json): Read {
  return (id, summary, returns, schema) => ({
    get: {
      operationId: `auth.${id}`,
      summary,
      tags: ['Sign-in'],
      security: [{ bearer: [] }],
      responses: {
        '200': { description: returns, content: { 'application/json': { schema: named(responseName(`auth.${id}`), schema, schemas) } } },
        '401': { $ref: '#/components/responses/Problem401' },
        '403': { $ref: '#/components/responses/Problem403' },
      },
    },
  })
}

function accountReads(schemas: Json): Json {
  const read = accountRead(schemas)
  return {
    '/auth/sessions': read('sessions', 'List the active sessions of the signed-in user.', 'Active sessions of the user', SESSIONS_SCHEMA),
    '/auth/me': read('me', 'Get the signed-in user and their organizations.', 'The user and their organizations', ME_SCHEMA),
  }
}
