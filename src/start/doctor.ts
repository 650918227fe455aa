/** Names what is unsafe about a configuration, a line for each: at every start, and by `npm run doctor`. */
import type { Config } from '#config.ts'

interface Finding {
  readonly setting: string
  readonly says: string
}

type Rule = (config: Config) => Finding | null

const RULES: readonly Rule[] = [
  ({ isLocal, demo }) =>
    !isLocal && demo ? { setting: 'DEMO', says: 'the demo account is on and its password is public: set DEMO=0' } : null,
  ({ isLocal, payments }) =>
    !isLocal && payments === 'sandbox'
      ? { setting: 'PAYMENTS', says: 'the sandbox takes no real money, so whoever signs up gets credits for nothing: set stripe or none' }
      : null,
  ({ isLocal, sandbox }) =>
    !isLocal && sandbox ? { setting: 'SANDBOX', says: 'simulated vendors would sell made-up imagery to strangers: set SANDBOX=0' } : null,
  ({ isLocal, baseUrl }) =>
    !isLocal && baseUrl.startsWith('http:')
      ? { setting: 'BASE_URL', says: `${baseUrl} is plain http: passwords and tokens can be read on the way; use https` }
      : null,
  ({ isLocal, baseUrl }) =>
    !isLocal && /^https?:\/\/(localhost|127\.|\[::1\])/.test(baseUrl)
      ? { setting: 'BASE_URL', says: 'links in answers lead to this machine itself: set the address that others use' }
      : null,
  ({ isLocal, trustedProxies }) =>
    !isLocal && trustedProxies.length === 0
      ? {
          setting: 'TRUSTED_PROXIES',
          says: "behind a proxy everybody has its address, and one person's failed sign-ins lock out all: name the proxy if there is one",
        }
      : null,
  ({ trustedProxies }) =>
    trustedProxies.some((network) => Number(network.split('/')[1] ?? 32) < 8)
      ? { setting: 'TRUSTED_PROXIES', says: 'a network this wide lets strangers choose the address that they are counted under' }
      : null,
  ({ isLocal, metricsToken }) =>
    isLocal || metricsToken ? null : { setting: 'METRICS_TOKEN', says: '/metrics is closed without it; set one to watch the service' },
  ({ metricsToken }) =>
    metricsToken && metricsToken.length < MIN_TOKEN_LENGTH
      ? { setting: 'METRICS_TOKEN', says: `it can be guessed: make it ${MIN_TOKEN_LENGTH} characters or longer` }
      : null,
  ({ isLocal, egressAllow }) =>
    !isLocal && egressAllow.length > 0
      ? { setting: 'EGRESS_ALLOW', says: `strangers can make the service ask ${egressAllow.join(', ')}; it is meant for development` }
      : null,
  ({ isLocal, stripeSecretKey }) =>
    !isLocal && stripeSecretKey.startsWith('sk_test_')
      ? { setting: 'STRIPE_SECRET_KEY', says: 'a test key charges nobody, and credits are given all the same' }
      : null,
  ({ payments, stripeWebhookSecret }) =>
    payments === 'stripe' && !stripeWebhookSecret
      ? {
          setting: 'STRIPE_WEBHOOK_SECRET',
          says: "without it the processor's notices are not believed, and payments settle by the sweep alone",
        }
      : null,
]

/** Short secrets fall to patience. */
const MIN_TOKEN_LENGTH = 20

export function findings(config: Config): string[] {
  return RULES.flatMap((rule) => rule(config) ?? []).map(({ setting, says }) => `${setting}: ${says}`)
}
