let isClosing = false

/** The way back is gone to close a panel: the rest of the screen stays as it is, the camera too. */
export const isClosingPanel = (): boolean => isClosing

export function setClosingPanel(isNowClosing: boolean): void {
  isClosing = isNowClosing
}
