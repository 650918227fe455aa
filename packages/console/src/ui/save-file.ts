const REVOKE_MS = 10_000

/** Saves a file of the browser's own making under a name without characters that systems refuse. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name.replaceAll(/[^\w .-]/g, '_')
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS)
}
