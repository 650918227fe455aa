import { loadLater } from '../ui/load-later.tsx'

/** Loaded when it is first shown: it brings the code of the QR image. */
export const ShareDialog = loadLater(async () => (await import('./share-dialog.tsx')).ShareDialog)
