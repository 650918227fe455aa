/** Each would leave its mark if it were taken for markup, for an address or for code. */
export const PAYLOADS = [
  '<img src=x onerror=window.marked=1>',
  '<script>window.marked=1</script>',
  '"><svg onload=window.marked=1>',
  "'-window.marked=1-'",
  'javascript:window.marked=1',
  '{{constructor.constructor("window.marked=1")()}}',
  '<style>body{display:none}</style>',
  '</h1><iframe srcdoc="<script>parent.marked=1</script>">',
  '\u202egnp.exe',
  'a"\r\nX-Evil: 1\r\n\r\n<b>',
  '${window.marked=1}',
  '&lt;b&gt;',
]
