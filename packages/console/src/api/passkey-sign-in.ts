/** Signing in with a passkey: alone, or after the password. */
import { startAuthentication } from '@simplewebauthn/browser'
import { client, completeSignIn, signInByPasskey } from './session.ts'

type Options = Parameters<typeof startAuthentication>[0]['optionsJSON']

async function ask(input: object): Promise<{ challenge_token: string; credential: object }> {
  const path = '/auth/sign-in/passkey-options'
  const { challenge_token, options } = await client.route<{ challenge_token: string; options: Options }>('POST', path, input)
  return { challenge_token, credential: await startAuthentication({ optionsJSON: options }) }
}

export const enterByPasskey = async (): Promise<void> => await signInByPasskey(await ask({}))
export const completeByPasskey = async (challengeToken: string): Promise<void> =>
  await completeSignIn(await ask({ challenge_token: challengeToken }))
