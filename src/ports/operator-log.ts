/** Messages for the operator about systems outside, where nobody's call fails. */
export interface OperatorLog {
  info(message: string): void
  warn(message: string): void
}
