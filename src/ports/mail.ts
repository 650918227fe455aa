/** A mail as its reader sees it. */
export interface Letter {
  to: { name: string; address: string }
  subject: string
  text: string
  html: string
}

export interface Mail {
  send(letter: Letter): Promise<void>
  close(): Promise<void>
}
