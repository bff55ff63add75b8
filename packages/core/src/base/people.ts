/** Addressees of an ask. A queue is `queue:<scope>/<name>`. */
export type Audience = `user:${string}` | `group:${string}` | `role:${string}` | `queue:${string}/${string}`

/** The author of an action. `policy:` and `system:` never count as a person. */
export type Actor = `user:${string}` | `agent:${string}` | `policy:${string}` | `system:${string}`
