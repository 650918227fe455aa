import { createOpenId } from '#adapters/sso/openid.ts'
import type { Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import type { SingleSignOn } from '#ports/sso.ts'

export const openSingleSignOn = ({ egressAllow, oidc }: Pick<Config, 'egressAllow' | 'oidc'>): SingleSignOn =>
  createOpenId({ clock: systemClock, installation: oidc, allow: egressAllow })
