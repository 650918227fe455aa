/** The signed-in user's own account: settings, sessions and second factors. */
import { startAuthentication, startRegistration } from '@simplewebauthn/browser'
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query'
import type { AuthSessionsOutput, AuthTwoFactorsOutput } from '../../../client/src/generated/auth.ts'
import { route } from './client.ts'
import { touch } from './query.ts'

export type TwoFactors = AuthTwoFactorsOutput
export type Session = AuthSessionsOutput['sessions'][number]

/** What shows that the user is present: a second factor, or the password if the account has none. */
export interface Presence {
  password?: string
  code?: string
  recovery_code?: string
  credential?: object
  challenge_token?: string
}

interface Challenge<O> {
  challenge_token: string
  options: O
}

type CreateOptions = Parameters<typeof startRegistration>[0]['optionsJSON']
type GetOptions = Parameters<typeof startAuthentication>[0]['optionsJSON']

const useAccount = <O>(path: string): UseQueryResult<O> =>
  useQuery<O>({ queryKey: [path], queryFn: ({ signal }) => route<O>('GET', path, undefined, { signal }) })

export const useSessions = () => useAccount<AuthSessionsOutput>('/auth/sessions')
export const useTwoFactors = () => useAccount<TwoFactors>('/auth/two-factors')

/** A change of the account; afterwards everything about it is read again. */
export function useAccountChange<I, O = void>(change: (input: I) => Promise<O>) {
  const client = useQueryClient()
  return useMutation<O, Error, I>({ mutationFn: change, onSuccess: () => touch(client, ['/auth/']) })
}

export const post = <O>(path: string, input: object = {}): Promise<O> => route<O>('POST', path, input)

/** A passkey as proof that the user is present. */
export async function provePresence(): Promise<Presence> {
  const { challenge_token, options } = await post<Challenge<GetOptions>>('/auth/two-factors/proof-options')
  return { challenge_token, credential: await startAuthentication({ optionsJSON: options }) }
}

export async function createPasskey(presence: Presence, name: string): Promise<{ recovery_codes: string[] | null }> {
  const { challenge_token, options } = await post<Challenge<CreateOptions>>('/auth/two-factors/passkeys/start', presence)
  const credential = await startRegistration({ optionsJSON: options })
  return await post('/auth/two-factors/passkeys/add', { challenge_token, credential, name })
}
