/** The routes of two-factor sign-in and of account settings, for the OpenAPI document. */
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'
import { ConfirmEmailInput, EmailInput, EndOthersInput, EndSessionInput, SettingsInput } from './account-settings.ts'
import { GRANT_SCHEMA, MAIL_TOKEN, object, PASSWORD, text, type Read, type Route } from './openapi-parts.ts'
import type { Json } from './openapi-schemas.ts'
import { PasskeyOptionsInput, PasskeySignInInput, SecondFactorInput } from './second-step.ts'
import {
  AddPasskeyInput,
  ConfirmAuthenticatorInput,
  ProofInput,
  ProofOptionsInput,
  RemovePasskeyInput,
  StartFactorInput,
} from './two-factors.ts'

const TOKEN = 'Y2hhbGxlbmdlX3Rva2VuX29mX2FfZG9jdW1lbnRhdGlvbg'
const CODE = '492039'
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const CREDENTIAL = { id: 'dGhlLWlk', rawId: 'dGhlLWlk', type: 'public-key', response: {}, clientExtensionResults: {} }
const RECOVERY_CODES = ['k3xm-72qa-pdlw-hn5t']

const OPTIONS: Json = { type: 'object', additionalProperties: true, description: 'What `navigator.credentials` takes, as JSON (WebAuthn)' }
const EXAMPLE_OPTIONS = { challenge: 'cmFuZG9tIGJ5dGVz', rpId: 'maps.example.com' }
const CHALLENGE_SCHEMA = object('A challenge for a passkey', { challenge_token: text('Challenge token'), options: OPTIONS })
const challengeExample = { challenge_token: TOKEN, options: EXAMPLE_OPTIONS }
const codes = (description: string): Json => ({ type: ['array', 'null'], items: { type: 'string' }, description })
const PASSKEY_SCHEMA: Json = {
  ...object('A passkey', {
    id: text('Passkey ID'),
    name: text('Display name of the passkey'),
    is_synced: { type: 'boolean', description: 'Whether the passkey is backed up, for example by the account of a phone' },
    created_at: text('Time the passkey was added'),
    last_used_at: { type: ['string', 'null'], description: 'Time the passkey was last used; null if never' },
  }),
  $id: 'Passkey',
}
const EXAMPLE_PASSKEY = { id: EXAMPLE_IDS.asset, name: 'Phone', is_synced: true, created_at: EXAMPLE_AT, last_used_at: null }
const FIRST_CODES = 'Ten recovery codes, shown once, if this is the first factor; otherwise null'

export function secondStepPaths(route: Route): Json {
  return {
    '/auth/sign-in/second-factor': route(
      'second_factor',
      'Complete a sign-in with a second factor: exactly one of a code, a recovery code and a passkey.',
      { schema: SecondFactorInput, example: { challenge_token: TOKEN, code: CODE } },
      { status: '200', returns: 'The new session', schema: GRANT_SCHEMA, refusals: [403] },
    ),
    '/auth/sign-in/passkey-options': route(
      'passkey_options',
      'Get what a passkey has to sign: as a second factor with the challenge token of a sign-in, otherwise instead of a password.',
      { schema: PasskeyOptionsInput, example: {} },
      { status: '200', returns: 'A challenge for a passkey', schema: CHALLENGE_SCHEMA, example: challengeExample },
    ),
    '/auth/sign-in/passkey': route(
      'passkey',
      'Sign in with a passkey alone. The device must have verified its user.',
      { schema: PasskeySignInInput, example: { challenge_token: TOKEN, credential: CREDENTIAL } },
      { status: '200', returns: 'The new session', schema: GRANT_SCHEMA, refusals: [403] },
    ),
  }
}

const signedIn = true as const
const refusals = [403] as const

export function twoFactorPaths(route: Route, read: Read): Json {
  return {
    '/auth/two-factors': read(
      'two_factors',
      'Get the second factors of the signed-in user.',
      'The second factors of the account',
      object('The second factors of an account', {
        is_on: { type: 'boolean', description: 'Whether signing in with the password requires a second factor' },
        authenticator: {
          anyOf: [object('An authenticator app', { created_at: text('Time the app was added') }), { type: 'null' }],
          description: 'The authenticator app; null if none',
        },
        passkeys: { type: 'array', items: PASSKEY_SCHEMA, description: 'Passkeys of the account' },
        recovery_codes_left: { type: 'integer', description: 'Number of recovery codes that were not used' },
        required_by: {
          type: 'array',
          items: { type: 'string' },
          description: "Names of the user's organizations that require two factors",
        },
      }),
    ),
    '/auth/two-factors/proof-options': route(
      'two_factor_proof_options',
      'Get what a passkey has to sign to prove that the user is present.',
      { schema: ProofOptionsInput, example: {} },
      { status: '200', returns: 'A challenge for a passkey', schema: CHALLENGE_SCHEMA, example: challengeExample, signedIn, refusals },
    ),
    ...authenticatorPaths(route),
    ...passkeyPaths(route),
    '/auth/two-factors/recovery-codes': route(
      'renew_recovery_codes',
      'Replace all recovery codes. Requires a second factor now.',
      { schema: ProofInput, example: { code: CODE } },
      {
        status: '200',
        returns: 'The new codes',
        schema: object('New recovery codes', {
          recovery_codes: { type: 'array', items: { type: 'string' }, description: 'Ten recovery codes, shown once' },
        }),
        example: { recovery_codes: RECOVERY_CODES },
        signedIn,
        refusals,
      },
    ),
  }
}

function authenticatorPaths(route: Route): Json {
  return {
    '/auth/two-factors/authenticator/start': route(
      'start_authenticator',
      'Get a new secret for an authenticator app. It counts once it is confirmed with a code.',
      { schema: StartFactorInput, example: { password: PASSWORD } },
      {
        status: '200',
        returns: 'The secret, as text and as the address for a QR code',
        schema: object('A new secret', { secret: text('Secret in Base32'), uri: text('Address for the QR code, `otpauth://…`') }),
        example: { secret: SECRET, uri: `otpauth://totp/Groundtrack:ana%40example.com?secret=${SECRET}&issuer=Groundtrack` },
        signedIn,
        refusals,
      },
    ),
    '/auth/two-factors/authenticator/confirm': route(
      'confirm_authenticator',
      'Confirm an authenticator app with a code. If it is the first factor, all other sessions end.',
      { schema: ConfirmAuthenticatorInput, example: { code: CODE } },
      {
        status: '200',
        returns: 'The app counts from now on',
        schema: object('The recovery codes of a first factor', { recovery_codes: codes(FIRST_CODES) }),
        example: { recovery_codes: RECOVERY_CODES },
        signedIn,
        refusals,
      },
    ),
    '/auth/two-factors/authenticator/remove': route(
      'remove_authenticator',
      'Remove the authenticator app. Requires a second factor now.',
      { schema: ProofInput, example: { code: CODE } },
      { status: '204', returns: 'The app was removed', schema: null, signedIn, refusals: [403, 404] },
    ),
  }
}

function passkeyPaths(route: Route): Json {
  return {
    '/auth/two-factors/passkeys/start': route(
      'start_passkey',
      'Get what a browser needs to create a passkey.',
      { schema: StartFactorInput, example: { password: PASSWORD } },
      { status: '200', returns: 'A challenge for a new passkey', schema: CHALLENGE_SCHEMA, example: challengeExample, signedIn, refusals },
    ),
    '/auth/two-factors/passkeys/add': route(
      'add_passkey',
      'Add the passkey that a browser has created. If it is the first factor, all other sessions end.',
      { schema: AddPasskeyInput, example: { challenge_token: TOKEN, credential: CREDENTIAL, name: 'Phone' } },
      {
        status: '200',
        returns: 'The new passkey',
        schema: object('A new passkey', { passkey: PASSKEY_SCHEMA, recovery_codes: codes(FIRST_CODES) }),
        example: { passkey: EXAMPLE_PASSKEY, recovery_codes: null },
        signedIn,
        refusals,
      },
    ),
    '/auth/two-factors/passkeys/remove': route(
      'remove_passkey',
      'Remove a passkey. Requires a second factor now.',
      { schema: RemovePasskeyInput, example: { passkey_id: EXAMPLE_PASSKEY.id, code: CODE } },
      { status: '204', returns: 'The passkey was removed', schema: null, signedIn, refusals: [403, 404] },
    ),
  }
}

export function settingsPaths(route: Route): Json {
  return {
    '/auth/settings': route(
      'settings',
      'Change the name of the user, and how the console writes numbers and dates. Omitted fields stay.',
      { schema: SettingsInput, example: { name: 'Ana Pereira', language: 'en-GB', units: 'metric' } },
      { status: '204', returns: 'The settings were saved', schema: null, signedIn, refusals: [403] },
    ),
    '/auth/email': route(
      'change_email',
      'Change the email address. It changes when the link in the email to the new address is used.',
      { schema: EmailInput, example: { email: 'ana@new.example', password: PASSWORD } },
      {
        status: '202',
        returns: 'The email is on its way',
        schema: object('The accepted request', { status: { type: 'string', const: 'accepted', description: 'Always `accepted`' } }),
        example: { status: 'accepted' },
        signedIn,
        refusals: [403],
      },
    ),
    '/auth/email/confirm': route(
      'confirm_new_email',
      'Confirm a new email address with the token of an email, which works once and expires after 24 hours.',
      { schema: ConfirmEmailInput, example: { token: MAIL_TOKEN } },
      { status: '204', returns: 'The email address was changed', schema: null },
    ),
    '/auth/sessions/end': route(
      'end_session',
      'End one session of the signed-in user.',
      { schema: EndSessionInput, example: { session_id: EXAMPLE_IDS.asset } },
      { status: '204', returns: 'The session has ended', schema: null, signedIn, refusals: [403, 404] },
    ),
    '/auth/sessions/end-others': route(
      'end_other_sessions',
      'End all sessions of the signed-in user except this one.',
      { schema: EndOthersInput, example: {} },
      { status: '204', returns: 'All other sessions have ended', schema: null, signedIn, refusals: [403] },
    ),
  }
}
