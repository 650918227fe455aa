/** Browsers offer passkeys for host names only, not for IP addresses. */
export const canUsePasskeys = 'PublicKeyCredential' in globalThis && !/^(\d+\.){3}\d+$|^\[/.test(location.hostname)

/** The user closed the browser's dialog, or it timed out. */
export const isCancelled = (error: unknown) => error instanceof Error && error.name === 'NotAllowedError'
