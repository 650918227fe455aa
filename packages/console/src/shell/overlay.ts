/** What can be open above the screen; one at a time. */
export type Overlay = 'palette' | 'api' | 'keys' | null
