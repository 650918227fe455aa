/** Posting to endpoints of customers, as far as who delivers must know. */
interface WebhookAnswer {
  /** Null: there was none. Why is not told apart, or a subscription would be a port scanner. */
  status: number | null
  retryAfter: string | null
  /** The beginning of its body, as text. */
  start: string
}

export interface Webhooks {
  /** Seconds before each retry. */
  readonly backoffSeconds: readonly number[]
  /** For one delivery, in total. */
  readonly timeoutMs: number
  /** Why an address cannot be an endpoint, or null. */
  refusalOf(url: string): Promise<string | null>
  post(url: string, headers: Readonly<Record<string, string>>, body: string, signal?: AbortSignal): Promise<WebhookAnswer>
  close(): Promise<void>
}
