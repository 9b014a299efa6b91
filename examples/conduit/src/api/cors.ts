// Front ends of other origins may use the HTTP API: they send a token, and no cookie.
import { CorsMiddleware } from "seamline";

export default new CorsMiddleware("*", "authorization, content-type");
