/** The demo organization, created like any other: by a sign-up and operations. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { newId } from '#core/ids.ts'
import { SERVICE, type Principal } from '#core/principal.ts'
import { withLock } from '#db/lock.ts'
import { isFunded } from '#model/money/billing-account.ts'
import * as projects from '#model/identity/project.ts'
import * as secrets from '#model/platform/secret.ts'
import * as shareLinks from '#model/sharing/share-link.ts'
import * as users from '#model/identity/user.ts'
import { invoke } from '#pipeline/invoke.ts'
import type { Platform } from '#pipeline/platform.ts'
import { STEADY_ENVIRONMENT, STEADY_FLAGS } from '#raster/pool/worker.ts'
import * as signIn from '#access/sign-in.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from './account.ts'
import type { DemoMessage, demoReporter } from './progress.ts'

const LOCAL = '127.0.0.1'
/** The demo's own mosaic costs more than this. */
const DEMO_CREDITS = 50_000 + 10

/** Creates what is missing of the demo: a process may have been killed halfway, and another may be doing the same now. */
export async function seedDemo(platform: Platform, auth: signIn.SignInPlatform): Promise<void> {
  await withLock(platform.db, 'demo', async () => {
    const signedIn = await signUpOrOn(platform, auth)
    if (!signedIn) return
    if (!signedIn.organization_id)
      await call(platform, signedIn, 'organizations.create', {
        name: 'Demo Imagery',
        description: 'Sample data to explore',
        country: 'AU',
      })
    const acting = await signIn.refresh(auth, { refresh_token: signedIn.refresh_token }, { isBrowser: false })
    if (!(await isFunded(platform.db, acting.organization_id!)))
      await call(platform, SERVICE, 'billing.credits.grant', {
        organization_id: acting.organization_id,
        credits: DEMO_CREDITS,
        reason: 'Demo credits',
      })
    await call(platform, acting, 'projects.create', { name: 'Demo', description: 'Sample scenes' })
    await signIn.signOut(auth, acting.refresh_token)
  })
}

/** Null if the demo is complete: its project is created last, and a deleted one stays known. */
async function signUpOrOn({ db }: Platform, auth: signIn.SignInPlatform): Promise<signIn.SignedIn | null> {
  const hasAccount = (await users.findByEmail(db, DEMO_EMAIL)) !== null
  if (!hasAccount) return await signIn.signUp(auth, { email: DEMO_EMAIL, password: DEMO_PASSWORD, name: 'Demo' }, LOCAL)
  return (await projects.hasEverExisted(db)) ? null : await signIn.signIn(auth, { email: DEMO_EMAIL, password: DEMO_PASSWORD }, LOCAL)
}

/** As the signed-in user, or as the platform itself. */
async function call(platform: Platform, caller: signIn.SignedIn | Principal, id: string, input: object): Promise<void> {
  const { status, body } = await invoke(platform, platform.operations.get(id)!, {
    ...('kind' in caller
      ? { credential: null, principal: caller }
      : { credential: { via: 'bearer' as const, secret: caller.access_token } }),
    body: () => input,
    idempotencyKey: newId(),
    clientAddress: LOCAL,
    signal: new AbortController().signal,
  })
  if (status !== 200) throw new Error(`seeding the demo: ${id} returned ${status} ${Buffer.from(body as Uint8Array).toString()}`)
}

/** The `Authorization` header of the process that fills the demo; its calls are not logged individually. */
export interface DemoClient {
  authorization: string | null
}

interface Filling {
  baseUrl: string
  signal: AbortSignal
  report: ReturnType<typeof demoReporter>
  client: DemoClient
}

/**
 * Fills the demo project with scenes, in a separate process that is a client like any other: the service responds
 * meanwhile, and an interrupted run resumes at the next start. Its last step is to share a scene.
 */
export async function fillDemo(
  { db, services: { clock } }: Platform,
  auth: signIn.SignInPlatform,
  { baseUrl, signal, report, client }: Filling,
): Promise<void> {
  // A link of any other kind proves nothing: people share scenes while the demo still loads.
  const isWhole = async () => (await users.findByEmail(db, DEMO_EMAIL)) === null || (await secrets.find(db, DEMO_LINK)) !== null
  if (await isWhole()) return
  await withLock(db, 'demo scenes', async () => {
    if (signal.aborted || (await isWhole())) return
    const signedIn = await signIn.signIn(auth, { email: DEMO_EMAIL, password: DEMO_PASSWORD }, LOCAL).catch(() => null)
    // Without it: someone changed the password, so the account is theirs now.
    if (!signedIn) return
    client.authorization = `Bearer ${signedIn.access_token}`
    const env = { BASE_URL: baseUrl, ACCESS_TOKEN: signedIn.access_token }
    const token = await runClient(FILLING, env, { signal, report }).finally(() => (client.authorization = null))
    if (token) await secrets.store(db, DEMO_LINK, Buffer.from(token.slice(TOKEN_PREFIX.length), 'base64url'), clock.now())
  })
}

/** 32 bytes after a prefix, like every token of a link. */
const TOKEN_PREFIX = 'shr_'
const DEMO_LINK = 'demo-share-link'

/** The token of the demo's share link, while it is valid. Its password is that of the demo. */
export async function demoLink({ db, services: { clock } }: Platform): Promise<string | null> {
  const bytes = await secrets.find(db, DEMO_LINK)
  if (!bytes) return null
  const token = `${TOKEN_PREFIX}${bytes.toString('base64url')}`
  const [link] = await shareLinks.byTokens(db, [shareLinks.hashToken(token)])
  const known = link?.known
  return known?.isTargetLive && known.link.revokedAt === null && known.link.expiresAt > clock.now() ? token : null
}

const FILLING = new URL('./seed.ts', import.meta.url)
const MAX_COMPLAINT = 2_000

/** The token of the link that the client created, if it did. */
async function runClient(
  module: URL,
  env: Record<string, string>,
  { signal, report }: Pick<Filling, 'signal' | 'report'>,
): Promise<string | null> {
  const client = fork(module, {
    // It paints pixels, as raster processes do, so it has their settings. Those of the service would let it keep its garbage.
    execArgv: ['--disable-warning=ExperimentalWarning', ...STEADY_FLAGS],
    env: { ...process.env, ...STEADY_ENVIRONMENT, ...env },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    signal,
    killSignal: 'SIGKILL',
  })
  let complaint = ''
  let token: string | null = null
  client.on('message', (message: DemoMessage) => {
    if ('step' in message) report(message.step)
    else token = message.shareToken
  })
  client.stderr!.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-MAX_COMPLAINT)
  })
  const [code] = (await once(client, 'exit')) as [number | null]
  if (code !== 0 && !signal.aborted) throw new Error(`filling the demo failed with ${code}: ${complaint}`)
  return token
}
