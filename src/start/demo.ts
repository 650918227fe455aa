import type { Logger } from 'pino'
import type { Config } from '#config.ts'
import type { Db } from '#db/tables.ts'
import type { ShownDemo } from '#http/local.ts'
import * as projects from '#model/identity/project.ts'
import * as users from '#model/identity/user.ts'
import type { Platform } from '#pipeline/platform.ts'
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../sandbox/demo/account.ts'
import { demoLink, seedDemo } from '../../sandbox/demo/demo.ts'
import { demoFields } from '../../sandbox/demo/fields.ts'
import type { SandboxReceiver } from '../../sandbox/webhooks/receiver.ts'
import type { Composed } from './compose.ts'

/** Enables or disables the demo account, and seeds the demo where it is wanted. */
export async function prepareDemo(config: Config, { platform, auth }: Composed, log: Logger): Promise<void> {
  await secureDemoAccount(config, platform.db, log)
  const isWanted = config.demo ?? (config.isLocal && !(await projects.hasEverExisted(platform.db)))
  if (isWanted && config.role !== 'worker') await seedDemo(platform, auth)
}

/**
 * The demo's password is public, so its account, with its sessions and keys, works only on a local service or with an explicit
 * DEMO=1. A data folder that was local once must not bring it along. A worker never enables it, because nobody uses its own address.
 */
async function secureDemoAccount(config: Config, db: Db, log: Logger): Promise<void> {
  const mayDemo = config.isLocal || config.demo === true
  if (mayDemo && config.role === 'worker') return
  if (!(await users.setActive(db, DEMO_EMAIL, mayDemo))) return
  if (mayDemo) log.info(`The demo account ${DEMO_EMAIL} is enabled again`)
  else log.warn(`The demo account ${DEMO_EMAIL} is disabled, because this service is not local and its password is public`)
}

/** The demo's sign-in and links, for pages that only a person at this machine can open. */
export async function shownDemo({ isLocal }: Config, platform: Platform, receiver: SandboxReceiver | null): Promise<ShownDemo | null> {
  const hasDemo = isLocal && ((await users.findByEmail(platform.db, DEMO_EMAIL))?.user.isActive ?? false)
  if (!hasDemo) return null
  const fields = { ...(await demoFields(platform.db)), ...(receiver ? { endpoint_url: receiver.url } : {}) }
  return { email: DEMO_EMAIL, password: DEMO_PASSWORD, shareToken: await demoLink(platform), fields }
}
